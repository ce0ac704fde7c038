"""An event loop that knows when its sockets were last seen empty."""

import asyncio
import selectors
import time
from collections.abc import Callable

from exporter.adapters.wire.wakeups import Reading, WakeupMeter, woken_not_before

_Ready = list[tuple[selectors.SelectorKey, int]]


AWAY_NS = 50_000_000
"""A turn of the loop takes 1 ms; one this long was held up."""


class WatchingSelector(selectors.DefaultSelector):
    """A selector that looks before it sleeps.

    A look that finds nothing proves that every socket was empty then.  If the sleep that follows is ended by
    a socket, its first segment came no earlier than the wake-up, which the scheduler's account bounds.  So a
    burst that arrives while the loop sleeps is dated to a few dozen microseconds, not to the whole wait.
    """

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        super().__init__()
        self._monotonic_ns = monotonic_ns
        self._meter = WakeupMeter()
        self._sleep: tuple[Reading, Reading] | None = None
        self._looked_ns = 0
        self._looked_before_ns = 0
        self._left_ns = monotonic_ns()
        self.away_ns = 0
        """Time in which a callback kept everybody else waiting for more than ``AWAY_NS``."""
        self.round = 0
        """Counts the calls of ``select``."""

    def select(self, timeout: float | None = None) -> _Ready:
        """Wait as the base class does, and remember what the wait proves."""
        ready = self._select(timeout)
        self._left_ns = self._monotonic_ns()
        return ready

    def _select(self, timeout: float | None) -> _Ready:
        self.round += 1
        self._sleep = None
        self._looked_before_ns = self._looked_ns
        looked_ns = self._monotonic_ns()
        if looked_ns - self._left_ns > AWAY_NS:
            self.away_ns += looked_ns - self._left_ns
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            self._looked_ns = looked_ns
            return ready
        self._looked_before_ns = looked_ns
        before = self._meter.before_sleep()
        self._looked_ns = self._monotonic_ns()
        ready = super().select(timeout)
        after = self._meter.after_sleep()
        if before is not None and after is not None:
            self._sleep = (before, after)
        return ready

    def empty_since(self, last_round: int) -> int:
        """Return a moment at which a socket that is ready in this round had nothing to read, or 0.

        ``last_round`` is the last round in which it was found ready.
        """
        if self._sleep is None and last_round == self.round - 1:
            return 0
        return self._looked_before_ns

    def woken_ns(self) -> int | None:
        """Return the earliest moment at which this round's sleep can have ended; None if unknown."""
        return None if self._sleep is None else woken_not_before(*self._sleep)

    def close(self) -> None:
        """Close the selector and the scheduler's account."""
        self._meter.close()
        super().close()


class WatchingLoop(asyncio.SelectorEventLoop):
    """The standard event loop over a ``WatchingSelector``."""

    def __init__(self) -> None:
        self.watch = WatchingSelector()
        super().__init__(self.watch)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a loop on which error bounds are tight: ``asyncio.Runner(loop_factory=new_event_loop)``."""
    return WatchingLoop()


def away_ns() -> int:
    """Return for how long the running loop has been held up so far; 0 on a loop that keeps no account."""
    loop = asyncio.get_running_loop()
    return loop.watch.away_ns if isinstance(loop, WatchingLoop) else 0
