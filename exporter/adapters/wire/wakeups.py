"""How late a thread woke up, from the scheduler's own account of it."""

import os
import threading
import time
from typing import NamedTuple

_RECORD_BYTES = 96


class Reading(NamedTuple):
    """The account of one thread at one moment; ``account`` is unparsed, because most are never looked at."""

    at_ns: int
    cpu_ns: int
    account: bytes


class WakeupMeter:
    """Reads ``/proc/self/task/TID/schedstat``: time waited for a processor, and times switched in.

    It tells what a clock alone cannot: of the time between two moments, how much was sleep.
    """

    __slots__ = ("_fd", "_thread_id")

    def __init__(self) -> None:
        self._fd = -1
        self._thread_id = -1

    def read(self) -> Reading | None:
        """Return the account of the calling thread, or None where the kernel keeps none."""
        thread_id = threading.get_native_id()
        if thread_id != self._thread_id:
            self.close()
            self._thread_id = thread_id
            try:
                self._fd = os.open(f"/proc/self/task/{thread_id}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return None
        if self._fd < 0:
            return None
        return Reading(time.monotonic_ns(), time.thread_time_ns(), os.pread(self._fd, _RECORD_BYTES, 0))

    def close(self) -> None:
        """Give the file back."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = self._thread_id = -1


def woken_not_before(before: Reading, after: Reading) -> int | None:
    """Return the earliest moment at which a thread that slept between the readings can have been woken.

    Everything from the wake-up to ``after`` is waiting for a processor or running.  None where the thread did
    not sleep exactly once: a second sleep (for the interpreter lock) may hide when the first one ended.
    """
    _, waited_before, switches_before = before.account.split()
    _, waited_after, switches_after = after.account.split()
    if int(switches_after) - int(switches_before) != 1:
        return None
    awake_ns = int(waited_after) - int(waited_before) + after.cpu_ns - before.cpu_ns
    return after.at_ns - awake_ns
