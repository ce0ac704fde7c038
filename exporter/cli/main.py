"""The command's front: which commands there are, and what happens to a bad configuration."""

from importlib import import_module

import click

from exporter import __version__
from exporter.config.problem import ConfigError

COMMANDS = {
    "run": "Run the service.",
    "demo": "Run the service with the embedded demo endpoint.",
    "check": "Check configuration files and say what they would run.",
    "probe": "Run probes of a target now and print their clocks and verdicts.",
    "ask": "Ask a target questions on the terminal and see its clocks.",
    "load": "Run one bounded load test.",
    "compare": "Compare two load runs, with confidence intervals.",
    "report": "Show load runs as tables, Markdown or HTML.",
    "bench": "Run the kernel benches once.",
    "metrics": "Print every metric as Markdown.",
    "reasons": "Print causes and remedies of every failure as Markdown.",
}
"""Each command's one line, kept here so that ``--help`` need not import the command."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called or asked for help, one module each."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands, in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import one command, or return None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"exporter.cli.{cmd_name}"), cmd_name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a configuration that cannot be used ends it with one line a problem."""
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            for line in error.lines:
                click.echo(line, err=True)
            ctx.exit(1)


@click.group(cls=LazyGroup)
@click.version_option(__version__, prog_name="inference-exporter")
def cli() -> None:
    """Measure inference endpoints and chips, and expose true numbers to Prometheus."""
