"""The shape of a metric family and of one change to it."""

from collections.abc import Mapping
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
    closed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Labels with a closed set of values, and the values: ``(("phase", ("dns", ...)),)``."""
    open_labels: bool = False
    """Whether labels that the user names in the configuration come on top of ``labels``."""

    def values_of(self, label: str) -> tuple[str, ...]:
        """Return every value that the closed label can take.

        Raises KeyError for a label whose values are not a closed set.
        """
        return dict(self.closed)[label]


@dataclass(frozen=True, slots=True)
class Sample:
    """One change: add to a counter, set a gauge, observe in a histogram (``times`` times, at least once).

    ``value`` None creates a counter at 0 or an empty histogram, so that the first real increase is seen as
    one.  A gauge has no such harmless value: None takes it away, because what it said no longer holds.
    """

    family: Family
    labels: tuple[str, ...]
    value: float | None
    times: int = 1


@dataclass(frozen=True, slots=True)
class InfoTable:
    """Every series of an info family at once: its label names, configured ones included, and its rows."""

    family: Family
    labels: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Every series of a gauge or counter family at once, by label values.

    For values that are kept elsewhere, such as a device's own counter: what is not in the next table is gone.
    """

    family: Family
    rows: Mapping[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class Group:
    """Families that a reader looks for in one place."""

    title: str
    about: str
    families: tuple[Family, ...]


def matches(names: tuple[str, ...], values: tuple[str, ...], wanted: Mapping[str, str]) -> bool:
    """Tell whether a series with these labels has every wanted label with its wanted value."""
    return wanted.items() <= dict(zip(names, values, strict=True)).items()
