"""The two clocks of a schedule: the monotonic one it keeps, and the wall clock that APScheduler reads."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from exporter.model.schedule import NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Readings of both clocks in nanoseconds."""

    monotonic_ns: Callable[[], int] = time.monotonic_ns
    wall_ns: Callable[[], int] = time.time_ns

    def wall_at(self, at_ns: int) -> datetime:
        """Return what the wall clock will show at this monotonic time, if it is not set meanwhile."""
        wall_ns = self.wall_ns() + at_ns - self.monotonic_ns()
        return datetime.fromtimestamp(wall_ns / NS_PER_S, UTC)
