"""Options that several commands have."""

from pathlib import Path

import click

from exporter.config.address import listen
from exporter.model.configuration import TargetPlan, WebOptions
from exporter.model.shard import Shard, parse_shard


class Address(click.ParamType[WebOptions]):
    """``HOST:PORT`` as in ``web.listen``."""

    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> WebOptions:
        """Parse the address, or fail with what is wrong with it."""
        if isinstance(value, WebOptions):
            return value
        try:
            return listen(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class ShardOption(click.ParamType[Shard]):
    """``I/N``: which part of the targets."""

    name = "shard"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """Parse the shard, or fail with what is wrong with it."""
        if isinstance(value, Shard):
            return value
        try:
            return parse_shard(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


listen_option = click.option(
    "--listen", type=Address(), metavar="ADDR", help="HOST:PORT, in place of what the configuration says."
)
log_level_option = click.option(
    "--log-level",
    type=click.Choice(("debug", "info", "warning", "error")),
    default="info",
    show_default=True,
    help="What is written to standard error.",
)
shard_option = click.option(
    "--shard",
    type=ShardOption(),
    metavar="I/N",
    help="Probe this part of the targets only, I from 0: for N exporters with one configuration.",
)
config_option = click.option(
    "--config",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Configuration; without it OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name one target.",
)


def configured_target(path: Path | None, name: str | None) -> TargetPlan:
    """Return one target of a configuration file, or of the environment; the only one needs no name.

    Raises ConfigError, and UsageError where there is no such target.
    """
    import os

    from exporter.config.environment import BASE_URL, from_environment
    from exporter.config.source import Source
    from exporter.kernels.suite import SUITES
    from exporter.probes import KINDS

    if path is None:
        configuration = from_environment(os.environ, KINDS)
    else:
        configuration = Source(path, KINDS, SUITES).load()
    plans = configuration.targets
    if name is None and len(plans) == 1:
        return plans[0]
    found = next((plan for plan in plans if plan.target.name == name), None)
    if found is None:
        names = ", ".join(plan.target.name for plan in plans) or "none"
        what = "name a target" if name is None else f"there is no target {name!r}"
        hint = f" (from {BASE_URL}; for others give --config FILE)" if path is None else ""
        raise click.UsageError(f"{what}; there are: {names}{hint}")
    return found
