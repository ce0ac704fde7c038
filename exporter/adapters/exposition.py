"""The series of one family, kept as the lines of an exposition.

The library makes every label set anew at each scrape: 2.2 s with the GIL held for the 137,000 samples of
1,000 probes, while the probes' own thread wants it.  Here a line's text is made once, and again when its
value has changed.  What comes out is the library's, byte for byte; a test holds the two together.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.utils import floatToGoString

from exporter.metrics.family import Family, InfoTable, Type, matches

Labels = tuple[str, ...]

_PLAIN_BELOW = 1_000_000
"""From here on Go writes an exponent, and the library after it."""


class Scalars:
    """The series of one counter or gauge."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._values: dict[Labels, float] = {}
        self._lines: dict[Labels, str] = {}

    def add(self, labels: Labels, amount: float | None) -> None:
        """Add to a counter, born at 0; raise ValueError for a negative amount."""
        if amount is not None and amount < 0:
            raise ValueError(f"{self._family.name} is a counter and cannot go down by {-amount:g}")
        before = self._values.get(labels)
        if before is None or amount:
            self._put(labels, (before or 0.0) + (amount or 0.0))

    def set(self, labels: Labels, value: float | None) -> None:
        """Set a gauge; None takes the series away, since there is no such value any more."""
        if value is not None:
            self._put(labels, float(value))
        else:
            self._lines.pop(labels, None)
            self._values.pop(labels, None)

    def replace(self, values: Mapping[Labels, float]) -> None:
        """Have these series and no others, with values that are kept elsewhere: they may go down."""
        for labels in [known for known in self._values if known not in values]:
            self.set(labels, None)
        for labels, value in values.items():
            if self._values.get(labels) != value:
                self._put(labels, float(value))

    def forget(self, wanted: Mapping[str, str]) -> None:
        """Drop every series that has all these labels."""
        for labels in [known for known in self._values if matches(self._family.labels, known, wanted)]:
            self.set(labels, None)

    def lines(self) -> Iterator[str]:
        """Yield the samples; may run beside a change on another thread."""
        # One call that lets no other thread in between, unlike a loop over the dictionary.
        yield from tuple(self._lines.values())

    def _put(self, labels: Labels, value: float) -> None:
        self._values[labels] = value
        self._lines[labels] = _start(self._family.name, self._family.labels, labels) + _number(value)


class _Histogram:
    """One histogram: how many observations fell into each bucket, and their sum."""

    __slots__ = ("counts", "starts", "sum")

    def __init__(self, family: Family, bounds: tuple[float, ...], labels: Labels) -> None:
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0
        names, bucket = (*family.labels, "le"), f"{family.name}_bucket"
        self.starts = (
            *(_start(bucket, names, (*labels, _go(bound))) for bound in (*bounds, float("inf"))),
            _start(f"{family.name}_count", family.labels, labels),
            _start(f"{family.name}_sum", family.labels, labels),
        )

    def lines(self) -> Iterator[str]:
        counts = tuple(self.counts)
        below = 0
        for start, count in zip(self.starts, counts, strict=False):
            below += count
            yield start + _count(below)
        yield self.starts[-2] + _count(below)
        yield self.starts[-1] + _number(self.sum)


class Histograms:
    """The series of one histogram family; ``bounds`` are upper bounds, rising, without +Inf."""

    def __init__(self, family: Family, bounds: tuple[float, ...]) -> None:
        self._family = family
        self.bounds = bounds
        self._children: dict[Labels, _Histogram] = {}

    def observe(self, labels: Labels, value: float | None, times: int = 1) -> None:
        """Count ``times`` equal observations; None makes the series and leaves it empty."""
        child = self._children.get(labels)
        if child is None:
            child = self._children[labels] = _Histogram(self._family, self.bounds, labels)
        if value is not None:
            child.counts[bisect_left(self.bounds, value)] += times
            child.sum += value * times

    def forget(self, wanted: Mapping[str, str]) -> None:
        """Drop every series that has all these labels."""
        for labels in [known for known in self._children if matches(self._family.labels, known, wanted)]:
            del self._children[labels]

    def emptied(self, bounds: tuple[float, ...]) -> "Histograms":
        """Return the same series with other bounds and no observations."""
        successor = Histograms(self._family, bounds)
        for labels in self._children:
            successor.observe(labels, None)
        return successor

    def lines(self) -> Iterator[str]:
        """Yield the samples; may run beside a change on another thread."""
        for child in tuple(self._children.values()):
            yield from child.lines()


def table_lines(table: InfoTable) -> Iterator[str]:
    """Yield the samples of an info table."""
    for row in table.rows:
        yield _start(table.family.name, table.labels, row) + _number(1.0)


def header(family: Family, *, openmetrics: bool) -> str:
    """Return the lines that precede the samples of a family."""
    name, text = family.name, family.help.replace("\\", r"\\").replace("\n", r"\n")
    if openmetrics:
        text = text.replace('"', r"\"")
        if family.type is Type.COUNTER:
            name = name.removesuffix("_total")
    return f"# HELP {name} {text}\n# TYPE {name} {family.type}\n"


def _start(name: str, names: Iterable[str], values: Labels) -> str:
    """Return everything of a line but its value."""
    pairs = sorted(zip(names, values, strict=True))
    text = ",".join(f'{key}="{_escaped(value)}"' for key, value in pairs)
    return f"{name}{{{text}}} " if text else f"{name} "


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return f"{_go(value)}\n"


def _go(value: float) -> str:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]  # the library's, unannotated
    return text


def _count(value: int) -> str:
    return f"{value}.0\n" if value < _PLAIN_BELOW else _number(value)
