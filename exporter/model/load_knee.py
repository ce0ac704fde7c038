"""Search for the knee: the largest load at which enough requests are still good, as an interval.

Doubles from the low end until a level fails, then bisects.  A level is decided by the Wilson interval of its
share of good requests; one that is undecided is run once more and its counts are added; after that the share
itself decides, and the result says so.
"""

from dataclasses import dataclass, field
from math import sqrt

Z = 1.96
"""95 % confidence."""
NARROW = 1.1
"""Stop when the failing level is at most this much above the one that holds."""
MOST_STEPS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """What the search found; a level None was not found in the range."""

    holds: float | None
    """The largest level that kept the objective."""
    fails: float | None
    """The smallest that did not."""
    confident: bool
    """Both ends were decided with 95 % confidence."""
    ratio: float

    @property
    def words(self) -> str:
        """The interval in words."""
        sure = "" if self.confident else " (not certain: too few requests a step)"
        share = f"{self.ratio:.3g} of the requests good"
        if self.holds is None:
            below = "nothing was decided" if self.fails is None else f"below {self.fails:g}"
            return f"knee {below}: the lowest level did not keep {share}{sure}"
        if self.fails is None:
            return f"knee above {self.holds:g}: the highest level still kept {share}{sure}"
        return f"knee between {self.holds:g} and {self.fails:g}, with {share}{sure}"


def wilson(good: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, within [0, 1].  ``n`` is above 0."""
    share = good / n
    middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(slots=True)
class KneeSearch:
    """Ask ``next_level``, run it, tell ``note``; until there is none."""

    low: float
    high: float
    ratio: float
    whole: bool
    """Levels are whole numbers (clients)."""
    _holds: float | None = None
    _fails: float | None = None
    _steps: int = 0
    _unsure: set[float] = field(default_factory=set)
    _pending: tuple[float, int, int] | None = None

    def next_level(self) -> float | None:
        """Return the next level to run; None when the search is over."""
        if self._steps >= MOST_STEPS:
            return None
        if self._pending is not None:
            return self._pending[0]
        if self._holds is None:
            return self.low if self._fails is None else None
        if self._fails is None:
            return None if self._holds >= self.high else min(self.high, self._holds * 2)
        if self._fails <= self._holds * NARROW or (self.whole and self._fails - self._holds <= 1):
            return None
        middle = sqrt(self._holds * self._fails)
        if self.whole:
            middle = min(max(round(middle), self._holds + 1), self._fails - 1)
        return float(middle)

    def note(self, level: float, good: int, sent: int) -> None:
        """Take what a level showed; one at which nothing was sent fails."""
        self._steps += 1
        before = self._pending
        self._pending = None
        if before is not None and before[0] == level:
            good, sent = good + before[1], sent + before[2]
        lower, upper = wilson(good, sent) if sent else (0.0, 0.0)
        if lower < self.ratio <= upper:
            if before is None:
                self._pending = (level, good, sent)
                return
            self._unsure.add(level)
        if sent and (lower >= self.ratio or (upper >= self.ratio and good / sent >= self.ratio)):
            self._holds = level if self._holds is None else max(self._holds, level)
        else:
            self._fails = level if self._fails is None else min(self._fails, level)

    def result(self) -> Knee:
        """Return what is known so far."""
        ends = {level for level in (self._holds, self._fails) if level is not None}
        return Knee(holds=self._holds, fails=self._fails, confident=not ends & self._unsure, ratio=self.ratio)
