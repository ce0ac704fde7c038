"""Workers that are kept between runs: importing torch costs 2.5 s of CPU, the light suite less."""

from collections.abc import Awaitable, Callable

from exporter.adapters import machine
from exporter.adapters.child import Child, ChildEnd
from exporter.kernels.session import Session

MAX_AGE_S = 6 * 3600.0
MAX_RESIDENT_BYTES = 400 << 20

Key = tuple[tuple[str, ...], int]
"""Devices and threads that a worker is for."""


class WarmSessions:
    """Sessions at rest, at most one for each key.

    One is not kept when it is old, large, or when anything went wrong in it: whatever state that left behind
    ends with the process.
    """

    def __init__(
        self,
        monotonic_s: Callable[[], float],
        resident_bytes: Callable[[int], int | None] = machine.resident_bytes,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._resident_bytes = resident_bytes
        self._resting: dict[Key, tuple[Session, float]] = {}
        self._born_s: dict[Session, float] = {}

    def take(self, key: Key, start: Callable[[], Awaitable[Child | ChildEnd]]) -> Session:
        """Return the resting session of the key, or a new one; it is the caller's until it is given back."""
        session, born_s = self._resting.pop(key, (None, 0.0))
        if session is None:
            session, born_s = Session(start), self._monotonic_s()
        self._born_s[session] = born_s
        return session

    async def give_back(self, key: Key, session: Session, *, keep: bool) -> None:
        """Let a session rest, or end its worker."""
        born_s = self._born_s.pop(session)
        resident = None if session.pid is None else self._resident_bytes(session.pid)
        is_old = self._monotonic_s() - born_s > MAX_AGE_S
        is_large = resident is not None and resident > MAX_RESIDENT_BYTES
        if (
            keep
            and session.pid is not None
            and not (session.faults or is_old or is_large or key in self._resting)
        ):
            self._resting[key] = (session, born_s)
        else:
            await session.close()

    async def aclose(self) -> None:
        """End every resting worker."""
        while self._resting:
            _, (session, _) = self._resting.popitem()
            await session.close()
