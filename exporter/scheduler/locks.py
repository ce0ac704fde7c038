"""Shared and exclusive holds on named resources; taken at once or not at all, never waited for."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Names of the resources that a run holds: ``target:prod-chat``, ``device:cpu``.

    Probes share their target; a load test or a bench has its target or device to itself.
    """

    shared: frozenset[str] = frozenset()
    exclusive: frozenset[str] = frozenset()


NOTHING = Needs()


@dataclass(slots=True)
class _Hold:
    sharers: int = 0
    is_exclusive: bool = False
    left: asyncio.Event | None = None
    """Set when the last sharer has left, for who waits for that."""


class Locks:
    """The resources of one event loop.  Nobody queues: who cannot have all he needs skips, and is counted.

    A taker that only tries can starve behind sharers that overlap without a gap; a load test, whose target
    has such sharers, claims it.
    """

    def __init__(self) -> None:
        self._held: dict[str, _Hold] = {}

    @contextmanager
    def trying(self, needs: Needs) -> Iterator[bool]:
        """Hold all that is needed for the block; give False, and hold nothing, if any is taken."""
        if not self._are_free(needs):
            yield False
            return
        self._take(needs)
        try:
            yield True
        finally:
            self._give_back(needs)

    @asynccontextmanager
    async def claiming(self, name: str, patience_s: float) -> AsyncIterator[bool]:
        """Hold one resource exclusively for the block, once those who share it have left.

        From the claim on nobody else gets it.  Gives False, and holds nothing, if somebody has it exclusively
        or the sharers have not left within ``patience_s``.
        """
        hold = self._held.setdefault(name, _Hold())
        if hold.is_exclusive:
            yield False
            return
        hold.is_exclusive = True
        hold.left = asyncio.Event()
        try:
            yield await self._wait_for_sharers(hold, patience_s)
        finally:
            hold.is_exclusive, hold.left = False, None
            if hold.sharers == 0:
                del self._held[name]

    async def _wait_for_sharers(self, hold: _Hold, patience_s: float) -> bool:
        if hold.sharers and hold.left is not None:
            try:
                async with asyncio.timeout(patience_s):
                    await hold.left.wait()
            except TimeoutError:
                return False
        return True

    def _are_free(self, needs: Needs) -> bool:
        return not any(name in self._held for name in needs.exclusive) and not any(
            name in self._held and self._held[name].is_exclusive for name in needs.shared
        )

    def _take(self, needs: Needs) -> None:
        for name in needs.shared:
            self._held.setdefault(name, _Hold()).sharers += 1
        for name in needs.exclusive:
            self._held[name] = _Hold(is_exclusive=True)

    def _give_back(self, needs: Needs) -> None:
        for name in needs.exclusive:
            del self._held[name]
        for name in needs.shared:
            hold = self._held[name]
            hold.sharers -= 1
            if hold.sharers == 0 and hold.left is not None:
                hold.left.set()
            elif hold.sharers == 0:
                del self._held[name]
