"""The grid of a schedule and the account of its slots; all times are nanoseconds of a monotonic clock."""

from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

NS_PER_S = 1_000_000_000
GOLDEN_RATIO = (sqrt(5) - 1) / 2


class MissCause(StrEnum):
    """Why a slot had no run; the only source of the label ``cause``."""

    OVERRUN = "overrun"
    """The previous run was still going."""
    BUSY = "busy"
    """A resource was held: a load test on the target, a bench on the device."""
    LATE = "late"
    """The slot came up later than its grace: the event loop was blocked, or the process was stopped."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One planned start: the ``index``-th since the schedule began, counted from 0."""

    index: int
    start_ns: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Slots at ``anchor_ns + k * every_ns`` for k = 0, 1, 2, ...; integers, so that nothing drifts."""

    anchor_ns: int
    every_ns: int

    def __post_init__(self) -> None:
        if self.every_ns <= 0:
            raise ValueError(f"a schedule needs a positive interval, not {self.every_ns} ns")

    def slot(self, index: int) -> Slot:
        """Return the slot with this index."""
        return Slot(index, self.anchor_ns + index * self.every_ns)

    def index_at(self, now_ns: int) -> int:
        """Return the index of the last slot that has started by now; -1 or less before the first."""
        return (now_ns - self.anchor_ns) // self.every_ns

    def next_after(self, now_ns: int) -> Slot:
        """Return the first slot that starts after now."""
        return self.slot(max(self.index_at(now_ns) + 1, 0))


@dataclass(frozen=True, slots=True)
class Due:
    """What a wake-up finds: at most one slot to run now, and how many slots it came too late for.

    Every slot below ``next_index`` is accounted for: run, or missed.
    """

    slot: Slot | None
    missed: int
    next_index: int


def come_up(grid: Grid, next_index: int, now_ns: int, *, early_ns: int = 0) -> int:
    """Return how many slots from ``next_index`` on have started, or will within ``early_ns``."""
    return max(grid.index_at(now_ns + early_ns) + 1 - next_index, 0)


def due(grid: Grid, next_index: int, now_ns: int, *, grace_ns: int, early_ns: int = 0) -> Due:
    """Return what is due now, given that every slot below ``next_index`` is accounted for.

    Of several slots that have come up only the last runs, and only within ``grace_ns`` of its start: a
    burst of catch-up runs would measure the burst.
    """
    count = come_up(grid, next_index, now_ns, early_ns=early_ns)
    if count == 0:
        return Due(None, 0, next_index)
    last = grid.slot(next_index + count - 1)
    if now_ns - last.start_ns > grace_ns:
        return Due(None, count, next_index + count)
    return Due(last, count - 1, next_index + count)


def stagger(order: int, every_s: float) -> float:
    """Return the delay in seconds, in [0, every_s), of the first slot of the ``order``-th schedule.

    Multiples of the golden ratio: every prefix of the sequence is spread evenly, neighbours are far apart,
    and a schedule that is added later moves nobody.  Source: the three-gap theorem.
    """
    return (order * GOLDEN_RATIO) % 1.0 * every_s
