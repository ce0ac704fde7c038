"""When the requests of an open loop are due: an absolute schedule, so that lateness never accumulates."""

import random
from collections.abc import Iterator
from itertools import count

from exporter.model.load_plan import Mode

NS = 1_000_000_000


def arrivals(mode: Mode, rate: float, rng: random.Random) -> Iterator[int]:
    """Yield due times in nanoseconds since the start, rising and without end.

    ``rate`` is requests a second, above 0.  Constant arrivals are counted, not added up, so that they do not
    drift.  Raises ValueError for a mode that has no rate.
    """
    if mode is Mode.CONSTANT:
        return (round(index * NS / rate) for index in count())
    if mode is Mode.POISSON:
        return _poisson(rate, rng)
    raise ValueError(f"mode {mode} has no rate")


def _poisson(rate: float, rng: random.Random) -> Iterator[int]:
    at_s = 0.0
    while True:
        at_s += rng.expovariate(rate)
        yield round(at_s * NS)


def share_of(total: int, workers: int, index: int) -> int:
    """Return how many of ``total`` go to the ``index``-th worker, as evenly as whole numbers allow."""
    return total // workers + (index < total % workers)
