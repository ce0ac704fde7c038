"""The arithmetic of energy: counters that wrap and restart, power over time, and what a window is worth.

Standard deviations of short windows come from the counter's ticks (about 100 ms): the difference of two
readings at any time was off by up to 99 % over 0.1 s and 8 % over 1 s, from tick to tick by less than 1 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

MIN_TICKS = 2
MAX_EDGE_SHARE = 0.02
"""How much of a window the uncertainty of its two ends may be."""
MAX_DISAGREEMENT = 0.2
"""Counter against polled power.  Boards that sample power in a part of the time differ by this much."""


class Method(StrEnum):
    """How joules were had."""

    COUNTER = "counter"
    POWER = "power"
    """Polled watts times time."""
    DECLARED = "declared"
    """Watts that the configuration states, times time."""


class Validity(StrEnum):
    """Whether a window's joules can be trusted, and why not."""

    OK = "ok"
    NO_SOURCE = "no_source"
    GAP = "gap"
    """Sampling broke off in the window."""
    RESET = "reset"
    """The counter fell: the driver was reloaded."""
    TOO_SHORT = "too_short"
    UNALIGNED = "unaligned"
    """The counter's ticks could not be found, or not sharply enough for so short a window."""
    DISAGREES = "disagrees"
    """The counter and the polled power tell different stories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyReading:
    """The energy of one window.  ``joules`` and the times are None when nothing could be measured."""

    validity: Validity
    detail: str = ""
    joules: float | None = None
    seconds: float | None = None
    """From tick to tick, which is not exactly the time that was asked for."""
    begin_s: float | None = None
    end_s: float | None = None
    """Monotonic clock of the host: count the work between these two."""
    ticks: int = 0
    """How often the counter was seen to move, or how many polls there were."""
    method: Method | None = None
    polled_joules: float | None = None
    """The same window by polled power, for comparison; None where there were too few polls."""

    @property
    def is_valid(self) -> bool:
        """Whether the joules can be used."""
        return self.validity is Validity.OK

    @property
    def watts(self) -> float | None:
        """Mean power over the window; None without joules."""
        if self.joules is None or not self.seconds:
            return None
        return self.joules / self.seconds

    @property
    def disagreement(self) -> float | None:
        """Counter / polled - 1; None where only one of the two exists."""
        if self.joules is None or not self.polled_joules or self.method is not Method.COUNTER:
            return None
        return self.joules / self.polled_joules - 1


def advance(before_j: float, after_j: float, wrap_j: float | None) -> float:
    """Return how far a counter went, at most one fall in between; never negative.

    With ``wrap_j`` a fall is a wrap; without, the counter started again at 0 and what came before is lost.
    """
    if after_j >= before_j:
        return after_j - before_j
    return after_j + wrap_j - before_j if wrap_j else after_j


def integrate(points: Sequence[tuple[float, float]], begin_s: float, end_s: float) -> float | None:
    """Return the joules of (time, watts) points between two times by the trapezoidal rule.

    The first and the last power are held to the ends of the window.  None with fewer than two points in it.
    """
    inside = [(at_s, watts) for at_s, watts in points if begin_s <= at_s <= end_s]
    if len(inside) < 2:
        return None
    whole = [(begin_s, inside[0][1]), *inside, (end_s, inside[-1][1])]
    return sum((b_s - a_s) * (a_w + b_w) / 2 for (a_s, a_w), (b_s, b_w) in pairwise(whole))
