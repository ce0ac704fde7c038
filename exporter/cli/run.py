"""``run``: the service."""

import os
from functools import partial
from pathlib import Path

import click

from exporter.cli.options import config_option, listen_option, log_level_option, shard_option
from exporter.model.configuration import WebOptions
from exporter.model.shard import Shard, sharded, shards_of_changes


@click.command()
@config_option
@listen_option
@shard_option
@log_level_option
def run(path: Path | None, listen: WebOptions | None, shard: Shard | None, log_level: str) -> None:
    """Run the service until SIGTERM or Ctrl-C.

    SIGHUP and POST /-/reload read the configuration again; one with problems changes nothing.
    """
    from exporter.app.process import serve
    from exporter.config.environment import from_environment
    from exporter.config.source import Source
    from exporter.kernels.suite import SUITES
    from exporter.probes import KINDS

    if path is None:
        reader = sharded(partial(from_environment, os.environ, KINDS), shard)
        raise SystemExit(serve(reader, listen=listen, log_level=log_level))
    source = Source(path, KINDS, SUITES)
    reader = sharded(source.load, shard)
    discover = shards_of_changes(source.discovered, shard)
    raise SystemExit(serve(reader, discover=discover, listen=listen, log_level=log_level))
