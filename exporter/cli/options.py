"""Options that several commands have."""

import click

from exporter.config.address import listen
from exporter.model.configuration import WebOptions
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
