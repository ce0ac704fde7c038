"""``demo``: the service with the embedded endpoint."""

import click

from exporter.cli.options import listen_option, log_level_option
from exporter.model.configuration import WebOptions


@click.command()
@listen_option
@log_level_option
def demo(listen: WebOptions | None, log_level: str) -> None:
    """Run the service against an embedded endpoint, a tiny transformer with random weights.

    Two targets: demo, which is healthy, and demo-flaky, which fails, stalls and slows down now and then.
    Needs no key and no GPU.
    """
    from exporter.app.demo import serve_demo

    raise SystemExit(serve_demo(listen=listen, log_level=log_level))
