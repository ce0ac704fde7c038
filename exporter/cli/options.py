"""Options that several commands have."""

import click

from exporter.config.address import listen
from exporter.model.configuration import WebOptions


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
