"""How late a thread woke up, from the scheduler's own account of it."""

import os
import threading
import time
from typing import NamedTuple

_RECORD_BYTES = 96


class Reading(NamedTuple):
    """One thread at one moment; ``account`` is unparsed, because most are never looked at."""

    at_ns: int
    cpu_ns: int
    account: bytes


class WakeupMeter:
    """Reads ``/proc/self/task/TID/schedstat``: time waited for a processor, and times switched in.

    It tells what a clock alone cannot: of the time between two moments, how much was sleep.
    """

    __slots__ = ("_account", "_fd", "_thread_id")

    def __init__(self) -> None:
        self._fd = -1
        self._thread_id = -1
        self._account = b""

    def before_sleep(self) -> Reading | None:
        """Return a reading whose account is the last one taken.

        Reading the account lets go of the interpreter lock, and this is no moment to lose it.  What happened
        since then counts as part of the sleep, which can only widen a bound.
        """
        if self._thread_id != threading.get_native_id() and self.after_sleep() is None:
            return None
        return Reading(time.monotonic_ns(), time.thread_time_ns(), self._account) if self._account else None

    def after_sleep(self) -> Reading | None:
        """Return a reading of the calling thread, or None where the kernel keeps no account."""
        at_ns, cpu_ns, thread_id = time.monotonic_ns(), time.thread_time_ns(), threading.get_native_id()
        if thread_id != self._thread_id:
            self.close()
            self._thread_id = thread_id
            try:
                self._fd = os.open(f"/proc/self/task/{thread_id}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return None
        if self._fd < 0:
            return None
        self._account = os.pread(self._fd, _RECORD_BYTES, 0)
        return Reading(at_ns, cpu_ns, self._account)

    def close(self) -> None:
        """Give the file back."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = self._thread_id = -1
        self._account = b""


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
