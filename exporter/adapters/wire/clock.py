"""Kernel receive stamps, which are wall-clock time, brought onto the monotonic clock."""

import time
from collections.abc import Callable

MAX_AGE_NS = 1_000_000_000
MOVED_NS = 200_000
_TRIES = 20


class StampClock:
    """Converts nanoseconds of ``CLOCK_REALTIME`` to nanoseconds of ``CLOCK_MONOTONIC``.

    NTP slews both clocks alike, so the offset between them moves only when somebody steps the wall clock.  It
    is measured again every second, and at once when a reading disagrees with it by more than 0.2 ms.
    """

    __slots__ = ("_measured_ns", "_monotonic_ns", "_offset_ns", "_wall_ns")

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._offset_ns = self._measure()
        self._measured_ns = monotonic_ns()

    def now_ns(self) -> int:
        """Return monotonic nanoseconds."""
        return self._monotonic_ns()

    def offset_at(self, read_ns: int) -> int | None:
        """Return wall minus monotonic time in nanoseconds; None when somebody stepped the wall clock.

        ``read_ns`` is monotonic time just now.  For who dates many reads of one moment.
        """
        drift_ns = self._wall_ns() - read_ns - self._offset_ns
        if not -MOVED_NS < drift_ns < MOVED_NS or read_ns - self._measured_ns > MAX_AGE_NS:
            before_ns = self._offset_ns
            self._offset_ns = self._measure()
            self._measured_ns = read_ns
            if abs(self._offset_ns - before_ns) > MOVED_NS:
                return None
        return self._offset_ns

    def monotonic_of(self, stamp_ns: int, *, not_before_ns: int, read_ns: int) -> int | None:
        """Return when a segment stamped ``stamp_ns`` arrived, in monotonic nanoseconds.

        ``read_ns`` is just now, after the segment was read; ``not_before_ns`` is the earliest it can have
        come.  None means that the stamp cannot be trusted: somebody stepped the wall clock meanwhile.
        """
        offset_ns = self.offset_at(read_ns)
        if offset_ns is None:
            return None
        at_ns = stamp_ns - offset_ns
        if at_ns > read_ns + MOVED_NS or at_ns < not_before_ns - MOVED_NS:
            return None
        return max(not_before_ns, min(at_ns, read_ns))

    def _measure(self) -> int:
        """Return wall minus monotonic time from the tightest of several readings."""
        best_span_ns = best_offset_ns = 0
        for attempt in range(_TRIES):
            before_ns = self._monotonic_ns()
            wall_ns = self._wall_ns()
            after_ns = self._monotonic_ns()
            if attempt == 0 or after_ns - before_ns < best_span_ns:
                best_span_ns = after_ns - before_ns
                best_offset_ns = wall_ns - (before_ns + after_ns) // 2
        return best_offset_ns
