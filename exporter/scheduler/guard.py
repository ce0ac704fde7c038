"""Keeps one run from hurting its own schedule or anyone else's: deadline, crash, cancellation."""

import asyncio
import logging
from dataclasses import dataclass

from exporter.model.crash import describe
from exporter.model.schedule import Slot
from exporter.scheduler.job import Ending, Job

log = logging.getLogger(__name__)

_LATE_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long the guard waits, in seconds."""

    beyond_deadline_s: float = 1.0
    """After a job's own deadline, which should end the run itself with a proper verdict."""
    after_cancel_s: float = 1.0
    """For a cancelled run to clean up."""


class Guard:
    """Runs work and always comes back, by the deadline and the patience at the latest."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._abandoned: set[asyncio.Task[Ending]] = set()

    @property
    def abandoned(self) -> int:
        """How many abandoned runs are still going."""
        return len(self._abandoned)

    async def attend(self, job: Job, slot: Slot, stop: asyncio.Future[None]) -> Ending:
        """Run the job once; ``stop`` done means that the run is to be cancelled now."""
        task = asyncio.create_task(_run(job, slot), name=f"run {job.name}")
        limit_s = job.deadline_s + self._patience.beyond_deadline_s
        either: set[asyncio.Future[Ending] | asyncio.Future[None]] = {task, stop}
        until_s = asyncio.get_running_loop().time() + limit_s
        await asyncio.wait(either, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if asyncio.get_running_loop().time() - until_s > _LATE_S:
            # The loop itself was held up, past the run's own deadline too: the run has yet to hear of that.
            patience_s = self._patience.beyond_deadline_s
            await asyncio.wait(either, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return _ending_of(task, job)
        asked = stop.done()
        task.cancel()
        await asyncio.wait({task}, timeout=self._patience.after_cancel_s)
        if not task.done():
            self._abandon(task, job)
            return Ending.ABANDONED
        if asked:
            return Ending.CANCELLED
        log.error("job cancelled: job=%s did not end by its own deadline of %g s", job.name, job.deadline_s)
        return Ending.OVERDUE

    def _abandon(self, task: asyncio.Task[Ending], job: Job) -> None:
        # Referenced, or the garbage collector could end it at any point.
        self._abandoned.add(task)
        task.add_done_callback(self._abandoned.discard)
        log.error(
            "job abandoned: job=%s ignored its cancellation for %g s and is left running; abandoned=%d",
            job.name,
            self._patience.after_cancel_s,
            self.abandoned,
        )


def is_given_up() -> bool:
    """Tell whether the run that asks was cancelled and went on: its slot is accounted for without it."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _run(job: Job, slot: Slot) -> Ending:
    try:
        await job.run(slot)
    except Exception as error:  # noqa: BLE001 - the scheduler's guard: a bug in one job must not stop the others
        log.error("job crashed: job=%s error=%s", job.name, describe(error))
        return Ending.CRASHED
    return Ending.FINISHED


def _ending_of(task: asyncio.Task[Ending], job: Job) -> Ending:
    if task.cancelled():
        log.error("job crashed: job=%s error=CancelledError that nobody asked for", job.name)
        return Ending.CRASHED
    return task.result()
