"""``python -m exporter.demo``: the embedded endpoint as a process of its own."""

import asyncio
import dataclasses
import logging
import os
from typing import Any

import click

from exporter.demo.settings import FaultRates, Settings

# Before numpy is imported: the matrices are too small to share, and idle BLAS threads spin.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
# Huge pages would make the whole key-value cache resident (+100 MB) when a few rows of it are used.
os.environ["NUMPY_MADVISE_HUGEPAGE"] = "0"

_RATE = click.FloatRange(0, 1)


@click.command(context_settings={"show_default": True})
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port; 0 takes any free one.")
@click.option("--api-key-env", metavar="NAME", help="Ask for the key in this environment variable.")
@click.option("--max-batch", default=8, type=click.IntRange(1, 64), help="Requests worked on at once.")
@click.option("--max-queue", default=64, type=click.IntRange(0), help="Requests that may wait besides.")
@click.option("--grace", default=5.0, type=click.FloatRange(0), help="Seconds to finish on SIGTERM.")
@click.option("--exit-with-parent", is_flag=True, help="Stop when standard input ends.")
@click.option("--fault-seed", default=0, help="Same seed, same faults, by order of arrival.")
@click.option("--error-rate", default=0.0, type=_RATE, help="Share answered with --error-status.")
@click.option("--error-status", default=500, type=click.IntRange(400, 599))
@click.option("--rate-limit-rate", default=0.0, type=_RATE, help="Share answered with 429.")
@click.option("--stall-rate", default=0.0, type=_RATE, help="Share that falls silent in mid-answer.")
@click.option("--stall-s", default=60.0, type=click.FloatRange(0), help="Seconds of that silence.")
@click.option("--cut-rate", default=0.0, type=_RATE, help="Share whose connection breaks in mid-answer.")
@click.option("--truncate-rate", default=0.0, type=_RATE, help="Share of streams that end early and cleanly.")
@click.option("--slow-rate", default=0.0, type=_RATE, help="Share slowed down by --slow-factor.")
@click.option(
    "--slow-factor", default=10.0, type=click.FloatRange(1), help="How many times as long those take."
)
def main(api_key_env: str | None, **options: Any) -> None:
    """Serve a tiny transformer with random weights behind the OpenAI API.

    Its latency is real and grows with load; its text means nothing.  Rates are shares from 0 to 1.
    """
    from exporter.demo.server import serve  # noqa: PLC0415 (numpy reads the environment once, when imported)

    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    faults = FaultRates(**{field.name: options.pop(field.name) for field in dataclasses.fields(FaultRates)})
    settings = Settings(api_key=_api_key(api_key_env), faults=faults, **options)
    try:
        asyncio.run(serve(settings))
    except OSError as error:
        address = f"{settings.host}:{settings.port}"
        raise click.ClickException(
            f"Cannot listen on {address}: {error.strerror or error}. Choose another --port (0: any free one)."
        ) from error


def _api_key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise click.BadParameter(f"the environment variable {name} is not set.", param_hint="--api-key-env")
    return key


if __name__ == "__main__":
    main()
