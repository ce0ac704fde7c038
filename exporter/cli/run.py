"""``run``: the service."""

import os
from functools import partial
from pathlib import Path

import click

from exporter.cli.options import listen_option, log_level_option, shard_option
from exporter.model.configuration import WebOptions
from exporter.model.shard import Shard, sharded


@click.command()
@click.option(
    "--config",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Configuration; without it OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL name one target.",
)
@listen_option
@shard_option
@log_level_option
def run(path: Path | None, listen: WebOptions | None, shard: Shard | None, log_level: str) -> None:
    """Run the service until SIGTERM or Ctrl-C.

    SIGHUP and POST /-/reload read the configuration again; one with problems changes nothing.
    """
    from exporter.app.process import serve
    from exporter.config.environment import from_environment
    from exporter.config.load import load
    from exporter.kernels.suite import SUITES
    from exporter.probes import KINDS

    if path is None:
        reader = partial(from_environment, os.environ, KINDS)
    else:
        reader = partial(load, path, KINDS, SUITES)
    raise SystemExit(serve(sharded(reader, shard), listen=listen, log_level=log_level))
