"""The scheduler: jobs on fixed grids over APScheduler, on one event loop."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC

from apscheduler.events import EVENT_JOB_MAX_INSTANCES, JobSubmissionEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from exporter.model.job import JobKind
from exporter.model.readiness import Verdict, judge
from exporter.model.schedule import NS_PER_S, Grid, stagger
from exporter.scheduler.clock import Clock
from exporter.scheduler.entry import Entry
from exporter.scheduler.guard import Guard, Patience
from exporter.scheduler.heartbeat import Heartbeat
from exporter.scheduler.job import Job, Observer
from exporter.scheduler.locks import Locks, Needs
from exporter.scheduler.trigger import GridTrigger

log = logging.getLogger(__name__)


class Scheduler:
    """Runs every job at its slots, one run at a time, and reports what became of each slot.

    Not thread-safe: every method is called on the event loop that ``start`` ran on.
    """

    def __init__(
        self, observer: Observer, *, clock: Clock | None = None, patience: Patience | None = None
    ) -> None:
        self._observer = observer
        self._clock = clock or Clock()
        self._guard = Guard(patience or Patience())
        self._locks = Locks()
        self._heartbeat = Heartbeat(self._clock, observer.on_loop_lag, self._clock_was_set)
        # Entry has a grace of its own, on the monotonic clock; APScheduler's is whole seconds of wall clock.
        defaults = {"max_instances": 1, "coalesce": True, "misfire_grace_time": None}
        self._apscheduler = AsyncIOScheduler(timezone=UTC, job_defaults=defaults)
        self._apscheduler.add_listener(self._overrun, EVENT_JOB_MAX_INSTANCES)
        self._entries: dict[str, Entry] = {}
        self._added = 0
        self._finished_kinds: set[JobKind] = set()
        # It logs every skip as a warning; they are counted instead.
        logging.getLogger("apscheduler").setLevel(logging.ERROR)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs on schedule, in the order in which they were added."""
        return tuple(entry.job for entry in self._entries.values())

    def claiming(self, name: str, patience_s: float) -> AbstractAsyncContextManager[bool]:
        """Hold a resource exclusively once its sharers have left; see ``Locks.claiming``."""
        return self._locks.claiming(name, patience_s)

    @property
    def abandoned(self) -> int:
        """How many runs ignored their cancellation and are still going."""
        return self._guard.abandoned

    def start(self) -> None:
        """Start the clockwork on the running event loop; jobs are added afterwards."""
        self._apscheduler.start()
        self._heartbeat.start()

    def add(self, jobs: Iterable[Job]) -> None:
        """Put jobs on schedule; raise ValueError when a name is taken.

        First slots are spread over each job's interval in the order of adding.
        """
        self._apscheduler.pause()
        try:
            for job in jobs:
                self._add(job)
        finally:
            self._apscheduler.resume()

    async def remove(self, names: Iterable[str]) -> None:
        """Take jobs off the schedule, cancel their runs, and return when those are over.

        Raises KeyError for an unknown name.  Takes no longer than the patience after a cancellation.
        """
        entries = []
        for name in names:
            entry = self._entries.pop(name)
            self._apscheduler.remove_job(name)
            self._note_finished(entry)
            entries.append(entry)
        for entry in entries:
            entry.close()
            entry.cancel()
        for entry in entries:
            await entry.idle()

    async def drain(self, grace_s: float) -> int:
        """Start no more runs, wait up to ``grace_s`` for those that are going, cancel the rest, and stop.

        Returns the number of runs that are abandoned and still going: an event loop would wait for them
        for ever when it closes.
        """
        self._apscheduler.pause()
        self._heartbeat.stop()
        for entry in self._entries.values():
            entry.close()
        try:
            async with asyncio.timeout(grace_s):
                await self._idle()
        except TimeoutError:
            log.warning("stopping: cancelling the runs that did not end within %g s", grace_s)
            for entry in self._entries.values():
                entry.cancel()
            await self._idle()
        self._apscheduler.shutdown(wait=False)
        # Its shutdown is a callback on the loop, which may be about to close.
        await asyncio.sleep(0)
        return self.abandoned

    def holding(self, needs: Needs) -> AbstractContextManager[bool]:
        """Hold resources beside the schedule for a block; give False, and hold nothing, if any is taken."""
        return self._locks.trying(needs)

    def readiness(self, kind: JobKind) -> Verdict:
        """Judge whether the jobs of this kind do their work."""
        entries = [entry for entry in self._entries.values() if entry.job.kind == kind]
        for entry in entries:
            self._note_finished(entry)
        return judge(
            [entry.pulse() for entry in entries],
            any_finished=kind in self._finished_kinds,
            now_s=self._clock.monotonic_ns() / NS_PER_S,
        )

    def _add(self, job: Job) -> None:
        if job.name in self._entries:
            raise ValueError(f"a job named {job.name} is already on schedule")
        order, self._added = self._added, self._added + 1
        delay_s = stagger(order, job.every_s) if job.delay_s is None else job.delay_s
        anchor_ns = self._clock.monotonic_ns() + int(delay_s * NS_PER_S)
        grid = Grid(anchor_ns, round(job.every_s * NS_PER_S))
        entry = Entry(
            job, grid, clock=self._clock, locks=self._locks, guard=self._guard, observer=self._observer
        )
        self._apscheduler.add_job(
            entry.fire,
            GridTrigger(entry, self._clock),
            id=job.name,
            next_run_time=self._clock.wall_at(anchor_ns),
        )
        self._entries[job.name] = entry

    def _overrun(self, event: JobSubmissionEvent) -> None:
        entry = self._entries.get(event.job_id)
        if entry is not None:
            entry.overrun()

    def _clock_was_set(self, step_s: float) -> None:
        log.warning("the wall clock was set: step_s=%.3f; the schedules keep their monotonic grid", step_s)
        self._apscheduler.pause()
        for name, entry in self._entries.items():
            self._apscheduler.modify_job(name, next_run_time=self._clock.wall_at(entry.next_wake_ns()))
        self._apscheduler.resume()
        self._observer.on_clock_step(step_s)

    async def _idle(self) -> None:
        for entry in self._entries.values():
            await entry.idle()

    def _note_finished(self, entry: Entry) -> None:
        if entry.has_finished:
            self._finished_kinds.add(entry.job.kind)
