"""What can be scheduled, how a run can end, and who is told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from exporter.model.job import JobKind
from exporter.model.schedule import MissCause, Slot
from exporter.scheduler.locks import NOTHING, Needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work on a fixed grid.  ``name`` is unique in a scheduler."""

    name: str
    kind: JobKind
    every_s: float
    deadline_s: float
    """How long ``run`` may take by its own account; the scheduler ends it a little later."""
    run: Callable[[Slot], Awaitable[None]]
    needs: Needs = NOTHING
    delay_s: float | None = None
    """Delay of the first slot after the job is added; None staggers it over the interval."""


class Ending(StrEnum):
    """How one run ended."""

    FINISHED = "finished"
    CRASHED = "crashed"
    """It raised: a bug, since an expected failure is a value."""
    CANCELLED = "cancelled"
    """Its job was removed, or the service stopped."""
    OVERDUE = "overdue"
    """It was cancelled because its own deadline did not end it."""
    ABANDONED = "abandoned"
    """It was cancelled, ignored that, and is left behind."""


class Observer(Protocol):
    """Who is told; called on the event loop, must not block."""

    def on_lag(self, job: Job, lag_s: float) -> None:
        """Take note that a run started, ``lag_s`` >= 0 after the start of its slot."""

    def on_missed(self, job: Job, cause: MissCause, slots: int) -> None:
        """Take note that ``slots`` >= 1 slots had no run."""

    def on_ended(self, job: Job, ending: Ending) -> None:
        """Take note that a run ended; every run that started ends exactly once."""

    def on_loop_lag(self, lag_s: float) -> None:
        """Take note of how late the event loop came to one tick, ten of which are due a second."""

    def on_clock_step(self, step_s: float) -> None:
        """Take note that the wall clock jumped; negative is backward."""
