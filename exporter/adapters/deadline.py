"""Blocking calls with a deadline: a call that outlasts it is left running, and nothing else waits for it."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class LateError(Exception):
    """The call has not come back yet."""


class Line(Generic[T]):
    """A thread that makes one call at a time.

    A hung call holds the thread, and the process at its end too: leave such a process with ``os._exit``.
    """

    def __init__(self, name: str, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._monotonic_s = monotonic_s
        self._pending: Future[T] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a call that was begun has not come back."""
        return self._pending is not None and not self._pending.done()

    def begin(self, work: Callable[[], T]) -> bool:
        """Begin a call; return False, and begin nothing, while the one before has not come back."""
        if self.is_busy:
            return False
        self._pending = self._pool.submit(work)
        return True

    def result(self, until_s: float) -> T:
        """Return what the call that was begun last returns, waiting until then on the monotonic clock.

        Raises LateError when it is not back by then, and whatever the call raised.
        """
        if self._pending is None:
            raise RuntimeError("nothing was begun")
        try:
            return self._pending.result(max(0.0, until_s - self._monotonic_s()))
        except TimeoutError as error:
            if self._pending.done():
                raise
            raise LateError from error

    def call(self, work: Callable[[], T], timeout_s: float) -> T:
        """Begin a call and return its result; raise LateError while it, or the one before, is not back."""
        if not self.begin(work):
            raise LateError
        return self.result(self._monotonic_s() + timeout_s)

    def close(self) -> None:
        """Begin nothing more; a call that hangs is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
