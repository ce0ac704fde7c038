"""Puts a grid of the monotonic clock under APScheduler, which computes with the wall clock."""

from datetime import datetime

from apscheduler.triggers.base import BaseTrigger

from exporter.scheduler.clock import Clock
from exporter.scheduler.entry import Entry


class GridTrigger(BaseTrigger):  # type: ignore[misc]  # apscheduler has no types
    """Fires at the slots of an entry's grid, translated by what the two clocks show at that moment.

    It looks at neither argument: both are wall-clock times of before, worth nothing once the clock was set.
    So a step of the clock can mislead one wake-up, never the grid.
    """

    def __init__(self, entry: Entry, clock: Clock) -> None:
        self._entry = entry
        self._clock = clock

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:  # noqa: ARG002
        """Return the wall-clock time of the next slot that starts after now."""
        return self._clock.wall_at(self._entry.next_slot_ns())
