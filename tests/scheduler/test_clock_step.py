"""The wall clock is set while the schedule runs; APScheduler's own clock reading is moved with it."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import apscheduler.schedulers.base
import pytest

from exporter.model.schedule import MissCause
from exporter.scheduler.clock import Clock
from exporter.scheduler.service import Scheduler


class WallClock:
    """The real wall clock plus what the operator set it by."""

    set_by_s = 0.0

    def ns(self) -> int:
        return time.time_ns() + int(self.set_by_s * 1e9)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Iterator[WallClock]:
    wall = WallClock()

    class Set(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(seconds=wall.set_by_s)

    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", Set)
    return wall


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0, -1.0, 1.0])
async def test_schedules_keep_their_grid_when_the_clock_is_set(told, a_job, until, wall, step_s) -> None:
    scheduler = Scheduler(told, clock=Clock(wall_ns=wall.ns))
    scheduler.start()
    slots = []

    async def run(slot) -> None:
        slots.append(slot)

    scheduler.add([a_job(run=run), *(a_job(f"{n}", every_s=30.0, delay_s=25.0) for n in range(20))])
    await until(lambda: len(slots) >= 3)
    wall.set_by_s = step_s
    before = len(slots)
    await until(lambda: len(slots) >= before + 10)
    await scheduler.drain(1)

    assert told.steps == [pytest.approx(step_s, abs=0.05)]
    assert [told.runs(f"{n}") for n in range(20)] == [0] * 20, "nobody else was started by the step"
    grid = {slot.start_ns - slot.index * 100_000_000 for slot in slots}
    assert len(grid) == 1
    assert {cause for _, cause in told.missed} <= {MissCause.LATE}
    assert told.accounted("job") >= slots[-1].index + 1


async def test_a_step_that_no_tick_notices_starts_nothing_early(told, a_job, until, wall) -> None:
    scheduler = Scheduler(told, clock=Clock(wall_ns=wall.ns))
    scheduler.start()
    scheduler._heartbeat.stop()
    scheduler.add([a_job(), a_job("rare", every_s=30.0, delay_s=25.0)])
    await until(lambda: told.runs("job") >= 2)
    wall.set_by_s = 3600.0
    before = told.runs("job")
    await until(lambda: told.runs("job") >= before + 5)
    await scheduler.drain(1)
    assert told.steps == []
    assert told.runs("rare") == 0
    assert told.accounted("rare") == 0


async def test_without_a_step_none_is_reported(scheduler, told, until) -> None:
    await until(lambda: len(told.loop_lags) >= 5)
    assert told.steps == []
