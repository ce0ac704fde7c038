"""Faults drawn by chance, so that a monitor has something to find."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from exporter.demo.errors import overloaded, server_error
from exporter.demo.events import Delta, Event
from exporter.demo.settings import FaultRates

_LATEST_DELTA = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What will go wrong with one request."""

    error_status: int | None = None
    rate_limited: bool = False
    stall_s: float = 0.0
    """Silence in mid-answer, in seconds."""
    cut: bool = False
    """The connection breaks in mid-answer."""
    truncated: bool = False
    """A stream ends in mid-answer as if it were complete: no finish reason, no usage, no ``[DONE]``."""
    slow_factor: float = 1.0
    """Everything takes this many times as long as it would, counted from the request's arrival."""
    after: int = 1
    """Stall, cut and truncation strike after this many pieces of text, or at the end if that is sooner."""

    def refuse(self) -> None:
        """Raise the ApiError, if the request is to be refused."""
        if self.error_status is not None:
            raise server_error(self.error_status, "Injected fault (--error-rate).")
        if self.rate_limited:
            raise overloaded("Injected fault (--rate-limit-rate).")


class Faults:
    """Draws the fault of each request, in the order of arrival."""

    def __init__(self, rates: FaultRates) -> None:
        self._rates = rates
        self._rng = random.Random(rates.fault_seed)

    def draw(self) -> Fault:
        """Return what will go wrong with the next request."""
        rates = self._rates
        # Every request takes the same number of draws, so that changing one rate leaves the others'
        # victims where they were.
        error, limit, stall, cut, truncate, slow = (self._rng.random() for _ in range(6))
        return Fault(
            error_status=rates.error_status if error < rates.error_rate else None,
            rate_limited=limit < rates.rate_limit_rate,
            stall_s=rates.stall_s if stall < rates.stall_rate else 0.0,
            cut=cut < rates.cut_rate,
            truncated=truncate < rates.truncate_rate,
            slow_factor=rates.slow_factor if slow < rates.slow_rate else 1.0,
            after=self._rng.randint(1, _LATEST_DELTA),
        )


class BrokenOffError(Exception):
    """The fault says that the answer ends here."""


async def afflicted(
    events: AsyncIterator[Event],
    fault: Fault,
    *,
    arrived_s: float,
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]],
) -> AsyncIterator[Event]:
    """Yield the events as slowly as the fault says.

    Raises BrokenOffError where the answer is to be cut or truncated.
    """
    pieces = 0
    struck = False
    async for event in events:
        due_s = arrived_s + fault.slow_factor * (event.at_s - arrived_s)
        if fault.slow_factor > 1 and due_s > clock():
            await sleep(due_s - clock())
        if not struck and (pieces == fault.after or not isinstance(event, Delta)):
            struck = True
            if fault.stall_s > 0:
                await sleep(fault.stall_s)
            if fault.cut or fault.truncated:
                raise BrokenOffError
        pieces += 1
        yield event
