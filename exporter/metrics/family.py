"""The shape of a metric family and of one change to it."""

from dataclasses import dataclass
from enum import StrEnum


class Type(StrEnum):
    """Prometheus metric types in use."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric name, what it means, and its labels; counters are named with ``_total``."""

    name: str
    type: Type
    help: str
    labels: tuple[str, ...] = ()
    unit: str = ""
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram in base units, without +Inf; the objectives' thresholds are added."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One change: add to a counter, set a gauge, observe in a histogram.

    ``value`` None creates the child without changing it (a counter at 0, an empty histogram), so that the
    first real increase is seen as one.  A gauge created by None would be an invented 0: not allowed.
    """

    family: Family
    labels: tuple[str, ...]
    value: float | None
