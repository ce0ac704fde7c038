"""The loop of a load worker: epoll that knows when its sockets were last seen empty.

Not asyncio: a handle, a context and a task for each event cost more than the read itself, with uvloop too.
"""

import select
import sys
import time
from collections.abc import Callable

from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.wakeups import WakeupMeter, woken_not_before

_SHORT_S = 0.0011
"""epoll waits whole milliseconds, rounded up; what is due sooner is waited for in naps."""
_NAP_S = 0.0002
READABLE = 1
WRITABLE = 4


class Poller:
    """Waits for sockets and says what the wait proves about when their bytes arrived.

    It looks before it sleeps, as ``WatchingSelector`` does: a look that finds nothing proves that every
    socket was empty then.
    """

    def __init__(self, clock: StampClock | None = None) -> None:
        if sys.platform != "linux":
            raise OSError("load workers need epoll and kernel receive stamps: run them on Linux")
        self._clock = clock or StampClock()
        self._epoll = select.epoll()
        self._meter = WakeupMeter()
        self._looked_ns = 0
        self._ready: dict[int, Callable[[int], None]] = {}
        self.round = 0
        """Counts the turns."""
        self.slept = False
        """Every socket was seen empty before the events of this round."""
        self.empty_ns = 0
        """When a socket that is ready now and was not in the round before had nothing to read."""
        self.offset_ns: int | None = None
        """Wall minus monotonic time in this round; None when stamps cannot be trusted."""

    def watch(self, fd: int, mask: int, ready: Callable[[int], None]) -> None:
        """Begin to watch a file descriptor; ``ready`` is called with what it is ready for."""
        self._ready[fd] = ready
        self._epoll.register(fd, mask)

    def change(self, fd: int, mask: int) -> None:
        """Watch for something else."""
        self._epoll.modify(fd, mask)

    def forget(self, fd: int) -> None:
        """Watch no more; before the descriptor is closed."""
        del self._ready[fd]
        self._epoll.unregister(fd)

    def turn(self, timeout_s: float) -> None:
        """Wait at most ``timeout_s`` and call everybody who is ready."""
        ready = self._ready
        for fd, mask in self._wait(timeout_s):
            found = ready.get(fd)
            if found is not None:
                found(mask)

    def _wait(self, timeout_s: float) -> list[tuple[int, int]]:
        self.round += 1
        now_ns = time.monotonic_ns()
        events = self._epoll.poll(0)
        self.slept = False
        if events or timeout_s <= 0:
            self.empty_ns, self._looked_ns = self._looked_ns, now_ns
        elif timeout_s < _SHORT_S:
            self.empty_ns = self._looked_ns = now_ns
            time.sleep(min(timeout_s, _NAP_S))
            return []
        else:
            events = self._sleep(timeout_s, now_ns)
        if events:
            self.offset_ns = self._clock.offset_at(time.monotonic_ns())
        return events

    def close(self) -> None:
        """Give the descriptors back."""
        self._epoll.close()
        self._meter.close()

    def _sleep(self, timeout_s: float, looked_ns: int) -> list[tuple[int, int]]:
        before = self._meter.before_sleep()
        self._looked_ns = time.monotonic_ns()
        events = self._epoll.poll(int((timeout_s - _SHORT_S) * 1e3 + 1) / 1e3)
        after = self._meter.after_sleep()
        woken_ns = woken_not_before(before, after) if before is not None and after is not None else None
        self.slept = True
        self.empty_ns = max(looked_ns, woken_ns or 0)
        return events
