"""One job in the scheduler: its grid, the account of its slots, and its run."""

import asyncio

from exporter.model.readiness import Pulse
from exporter.model.schedule import NS_PER_S, Grid, MissCause, Slot, come_up, due
from exporter.scheduler.clock import Clock
from exporter.scheduler.guard import Guard
from exporter.scheduler.job import Ending, Job, Observer
from exporter.scheduler.locks import Locks

GRACE_INTERVALS = 0.5
"""A slot that comes up later than half an interval is missed: it would run into the next one's time."""
_EARLY_NS = 5_000_000
"""The wall clock runs up to 500 ppm faster while it is slewed: a wake-up this early is waited out."""


class Entry:
    """Sees to it that every slot of its job is accounted for once: run, or missed for one cause."""

    def __init__(
        self, job: Job, grid: Grid, *, clock: Clock, locks: Locks, guard: Guard, observer: Observer
    ) -> None:
        self.job = job
        self.has_finished = False
        self._grid = grid
        self._clock = clock
        self._locks = locks
        self._guard = guard
        self._observer = observer
        self._grace_ns = int(grid.every_ns * GRACE_INTERVALS)
        self._early_ns = min(_EARLY_NS, grid.every_ns // 10)
        self._next_index = 0
        self._alive_ns = clock.monotonic_ns()
        self._is_closed = False
        self._stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idle = asyncio.Event()
        self._idle.set()

    def next_wake_ns(self) -> int:
        """Return when the schedule must wake for the first slot that is not accounted for."""
        return max(self._grid.slot(self._next_index).start_ns, self._clock.monotonic_ns())

    def next_slot_ns(self) -> int:
        """Return the start of the first slot that a wake-up at this moment would not see to."""
        return self._grid.next_after(self._clock.monotonic_ns() + self._early_ns).start_ns

    async def fire(self) -> None:
        """Run the slot that is due, or account for why not.

        A wake-up before any slot (the wall clock was set forward) does nothing.
        """
        if self._is_closed:
            return
        slot = self._next_due()
        if slot is None:
            return
        with self._locks.trying(self.job.needs) as is_free:
            if is_free:
                await self._run(slot)
            else:
                self._alive_ns = self._clock.monotonic_ns()
                self._observer.on_missed(self.job, MissCause.BUSY, 1)

    def overrun(self) -> None:
        """Account for the slots that came up while the run was still going."""
        self._miss_all(MissCause.OVERRUN, early_ns=self._early_ns)

    def close(self) -> None:
        """Start no more runs; slots that came up and were not seen to are late."""
        if not self._is_closed:
            self._is_closed = True
            self._miss_all(MissCause.LATE, early_ns=0)

    def cancel(self) -> None:
        """Cancel the run that is going, if one is."""
        if not self._stop.done():
            self._stop.set_result(None)

    async def idle(self) -> None:
        """Wait until no run is going."""
        await self._idle.wait()

    def pulse(self) -> Pulse:
        """Return when this schedule last showed life."""
        return Pulse(
            name=self.job.name,
            every_s=self.job.every_s,
            deadline_s=self.job.deadline_s,
            alive_s=self._alive_ns / NS_PER_S,
        )

    def _next_due(self) -> Slot | None:
        now_ns = self._clock.monotonic_ns()
        found = due(self._grid, self._next_index, now_ns, grace_ns=self._grace_ns, early_ns=self._early_ns)
        self._next_index = found.next_index
        self._miss(MissCause.LATE, found.missed)
        return found.slot

    async def _run(self, slot: Slot) -> None:
        self._idle.clear()
        try:
            early_ns = slot.start_ns - self._clock.monotonic_ns()
            if early_ns > 0:
                await asyncio.sleep(early_ns / NS_PER_S)
            lag_ns = max(self._clock.monotonic_ns() - slot.start_ns, 0)
            self._observer.on_lag(self.job, lag_ns / NS_PER_S)
            ending = await self._guard.attend(self.job, slot, self._stop)
            if ending is Ending.FINISHED:
                self.has_finished = True
                self._alive_ns = self._clock.monotonic_ns()
            self._observer.on_ended(self.job, ending)
        finally:
            self._idle.set()

    def _miss_all(self, cause: MissCause, *, early_ns: int) -> None:
        slots = come_up(self._grid, self._next_index, self._clock.monotonic_ns(), early_ns=early_ns)
        self._next_index += slots
        self._miss(cause, slots)

    def _miss(self, cause: MissCause, slots: int) -> None:
        if slots:
            self._observer.on_missed(self.job, cause, slots)
