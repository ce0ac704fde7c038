"""A tick on the event loop that finds out how late the loop is and whether the wall clock was set."""

import asyncio
from collections.abc import Callable

from exporter.model.schedule import NS_PER_S
from exporter.scheduler.clock import Clock

PERIOD_S = 0.1
STEP_S = 0.1
"""A smaller jump of the wall clock between two ticks is left alone: it delays a slot once, by no more."""
_MOST_TICKS = 600


class Heartbeat:
    """Ticks on a fixed grid and reports every tick once, also those that a blocked loop delayed.

    So a block of two seconds is twenty ticks that were late by 2.0, 1.9, ... seconds, and the share of late
    ticks is the share of time in which the loop was late.
    """

    def __init__(
        self, clock: Clock, on_lag: Callable[[float], None], on_step: Callable[[float], None]
    ) -> None:
        self._clock = clock
        self._on_lag = on_lag
        self._on_step = on_step
        self._handle: asyncio.TimerHandle | None = None
        self._offset_ns: int | None = None

    def start(self) -> None:
        """Begin to tick on the running loop."""
        loop = asyncio.get_running_loop()
        self._offset_ns = self._read_offset_ns()
        self._arm(loop, loop.time() + PERIOD_S)

    def stop(self) -> None:
        """Tick no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self, loop: asyncio.AbstractEventLoop, due_s: float) -> None:
        self._handle = loop.call_at(due_s, self._beat, loop, due_s)

    def _beat(self, loop: asyncio.AbstractEventLoop, due_s: float) -> None:
        late_s = max(loop.time() - due_s, 0.0)
        missed = int(late_s / PERIOD_S)
        # Armed first: an observer that raises must not stop the ticks.
        self._arm(loop, due_s + (missed + 1) * PERIOD_S)
        self._compare_clocks()
        for tick in range(min(missed + 1, _MOST_TICKS)):
            self._on_lag(late_s - tick * PERIOD_S)

    def _compare_clocks(self) -> None:
        offset_ns = self._read_offset_ns()
        if offset_ns is None:
            return
        before_ns, self._offset_ns = self._offset_ns, offset_ns
        if before_ns is not None and abs(offset_ns - before_ns) > STEP_S * NS_PER_S:
            self._on_step((offset_ns - before_ns) / NS_PER_S)

    def _read_offset_ns(self) -> int | None:
        """Return wall minus monotonic time, or None when we were interrupted between the readings."""
        before_ns = self._clock.monotonic_ns()
        wall_ns = self._clock.wall_ns()
        after_ns = self._clock.monotonic_ns()
        if after_ns - before_ns > STEP_S * NS_PER_S / 4:
            return None
        return wall_ns - before_ns
