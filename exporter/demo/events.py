"""What the engine reports about a job, and how it gets to the handler that waits for it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum

from exporter.demo.model import Floats


class Finish(StrEnum):
    """Why an answer ended, as the API spells it."""

    STOP = "stop"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Delta:
    """Text that can be sent; ``at_s`` is when it was computed, on the event loop's clock."""

    at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The end of an answer of ``tokens`` sampled tokens; the end token is not one of them."""

    at_s: float
    finish: Finish
    tokens: int


@dataclass(frozen=True, slots=True)
class Vectors:
    """One unit vector a text, (texts, width)."""

    at_s: float
    rows: Floats


@dataclass(frozen=True, slots=True)
class Aborted:
    """The engine stopped before the work was done."""

    at_s: float


Event = Delta | Done | Vectors | Aborted


class Mailbox:
    """Events of one job, from the engine to the handler; both ends are used on the event loop only."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Event] = asyncio.Queue()

    def put(self, event: Event) -> None:
        """Add an event."""
        self._queue.put_nowait(event)

    async def events(self) -> AsyncIterator[Event]:
        """Yield the events until the last one, which is not a ``Delta``."""
        while True:
            event = await self._queue.get()
            yield event
            if not isinstance(event, Delta):
                return
