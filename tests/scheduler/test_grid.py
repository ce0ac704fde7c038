"""Slots on a real loop: a grid without drift, and an account without holes."""

import asyncio
import time

import pytest

from exporter.model.schedule import MissCause
from exporter.scheduler.job import Ending


def block(seconds: float) -> None:
    time.sleep(seconds)


async def test_runs_start_on_the_grid_whatever_they_take(scheduler, told, a_job, until) -> None:
    starts = []

    async def run(slot) -> None:
        starts.append((slot.index, time.monotonic_ns() - slot.start_ns))
        await asyncio.sleep(0.03)

    scheduler.add([a_job(run=run)])
    await until(lambda: len(starts) >= 10)
    indexes = [index for index, _ in starts]
    assert indexes == sorted(set(indexes))
    # An interval that began at the end of the run would be 0.27 s late by the tenth run.
    assert min(late for _, late in starts[5:]) < 100_000_000
    assert all(late >= 0 for _, late in starts)
    assert told.accounted("job") == indexes[-1] + 1


async def test_a_blocked_loop_loses_no_slot_silently(scheduler, told, a_job, until) -> None:
    slots = []

    async def run(slot) -> None:
        slots.append(slot)

    scheduler.add([a_job(run=run)])
    await until(lambda: len(slots) >= 3)
    before = told.accounted("job")
    block(2.2)
    await until(lambda: told.accounted("job") > before + 20)
    last = slots[-1]
    assert told.accounted("job") == last.index + 1
    assert told.missed["job", MissCause.LATE] >= 20
    assert max(told.loop_lags) > 1.5


async def test_a_short_block_makes_a_slot_late_not_missed(scheduler, told, a_job, until) -> None:
    scheduler.add([a_job(every_s=2.0)])
    await until(lambda: told.runs("job") == 1)
    await asyncio.sleep(1.7)
    block(0.6)
    await until(lambda: told.runs("job") == 2)
    assert told.missed["job", MissCause.LATE] == 0
    assert told.lags["job"][1] > 0.2


async def test_removal_closes_the_account(scheduler, told, a_job, until) -> None:
    anchored = []

    async def run(slot) -> None:
        anchored.append(slot.start_ns - slot.index * 100_000_000)

    scheduler.add([a_job(run=run)])
    await until(lambda: told.runs("job") >= 2)
    block(0.55)
    at_ns = time.monotonic_ns()
    await scheduler.remove(["job"])
    assert told.accounted("job") >= (at_ns - anchored[0]) // 100_000_000 + 1
    assert told.missed["job", MissCause.LATE] >= 5
    assert scheduler.jobs == ()


async def test_jobs_are_staggered(scheduler, a_job, until) -> None:
    firsts = {}

    def note(name):
        async def run(slot) -> None:
            firsts.setdefault(name, slot.start_ns)

        return run

    scheduler.add(a_job(f"{n}", every_s=1.0, run=note(n), delay_s=None) for n in range(8))
    await until(lambda: len(firsts) == 8)
    spread_s = [(at - min(firsts.values())) / 1e9 for at in firsts.values()]
    assert max(spread_s) > 0.7
    assert sorted(range(8), key=lambda n: firsts[n]) == [0, 5, 2, 7, 4, 1, 6, 3]


async def test_many_jobs_start_in_time_at_little_cost(scheduler, told, a_job, until) -> None:
    scheduler.add(a_job(f"{n}", every_s=1.0, delay_s=None) for n in range(500))
    cpu_s = time.process_time()
    await until(lambda: sum(told.ended.values()) >= 1000)
    assert time.process_time() - cpu_s < 2.0
    assert {ending for _, ending in told.ended} == {Ending.FINISHED}
    lags = sorted(lag for one in told.lags.values() for lag in one)
    assert lags[len(lags) // 2] < 0.5


async def test_a_name_is_taken_once(scheduler, a_job) -> None:
    scheduler.add([a_job("one")])
    with pytest.raises(ValueError, match="a job named one is already on schedule"):
        scheduler.add([a_job("one")])
    assert [job.name for job in scheduler.jobs] == ["one"]
