"""Runs that hang, crash, ignore their cancellation, or are cancelled."""

import asyncio
import contextlib
import logging
import time

from exporter.model.schedule import MissCause
from exporter.scheduler.guard import Patience
from exporter.scheduler.job import Ending
from exporter.scheduler.service import Scheduler
from tests.scheduler.scheduler_recorder import Recorder

SECRET = "sk-very-secret"


async def hang(slot) -> None:
    await asyncio.Event().wait()


async def test_a_hung_run_ends_and_its_schedule_goes_on(scheduler, told, a_job, until) -> None:
    scheduler.add([a_job("hung", run=hang, deadline_s=0.3), a_job("other")])
    await until(lambda: told.runs("hung") == 1 and told.missed["hung", MissCause.OVERRUN] >= 2)
    assert told.ended["hung", Ending.OVERDUE] == 0, "overruns are counted while the run still hangs"
    await until(lambda: told.ended["hung", Ending.OVERDUE] >= 3)
    assert told.runs("hung") >= 3
    assert told.missed["hung", MissCause.OVERRUN] >= 2 * told.ended["hung", Ending.OVERDUE]
    assert told.runs("other") >= 2 * told.runs("hung")
    assert told.missed["other", MissCause.OVERRUN] == 0


async def test_a_run_that_a_held_up_loop_made_late_may_end_by_itself(scheduler, told, a_job, until) -> None:
    async def own_deadline(slot) -> None:
        async with asyncio.timeout(0.2):
            time.sleep(0.4)  # noqa: ASYNC251 - what holds the loop up
            await asyncio.sleep(0)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            asyncio.current_task().uncancel()
            await asyncio.sleep(0.001)

    scheduler.add([a_job(run=own_deadline, deadline_s=0.2, every_s=1)])
    await until(lambda: told.runs("job") >= 1 and sum(told.ended.values()) >= 1)
    assert told.ended["job", Ending.OVERDUE] == 0


async def test_no_two_runs_of_a_job_overlap(scheduler, told, a_job, until) -> None:
    running = most = 0

    async def slow(slot) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.25)
        running -= 1

    scheduler.add([a_job(run=slow)])
    await until(lambda: told.ended["job", Ending.FINISHED] >= 3)
    assert most == 1
    assert told.missed["job", MissCause.OVERRUN] >= 4


async def test_a_run_that_ignores_its_cancellation_is_left_behind(
    scheduler, told, a_job, until, caplog
) -> None:
    release = asyncio.Event()

    async def stubborn(slot) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await release.wait()
        await release.wait()

    scheduler.add([a_job(run=stubborn, deadline_s=0.1)])
    await until(lambda: told.ended["job", Ending.ABANDONED] >= 2)
    assert scheduler.abandoned >= 2
    assert "job abandoned: job=job ignored its cancellation" in caplog.text
    release.set()
    await until(lambda: scheduler.abandoned == 0)
    await until(lambda: told.ended["job", Ending.FINISHED] >= 1)


async def test_a_crash_is_counted_and_logged_without_its_message(
    scheduler, told, a_job, until, caplog
) -> None:
    async def crash(slot) -> None:
        try:
            {}[SECRET]
        except KeyError as error:
            raise RuntimeError(f"Authorization: Bearer {SECRET}") from error

    scheduler.add([a_job(run=crash)])
    await until(lambda: told.ended["job", Ending.CRASHED] >= 3)
    assert told.runs("job") >= 3
    assert SECRET not in caplog.text
    line = next(record.getMessage() for record in caplog.records)
    assert "job crashed: job=job error=RuntimeError at " in line
    assert "test_guard.py:" in line
    assert " crash, caused by KeyError at " in line


async def test_a_cancellation_that_nobody_asked_for_is_a_crash(scheduler, told, a_job, until) -> None:
    async def cancelled(slot) -> None:
        raise asyncio.CancelledError

    scheduler.add([a_job(run=cancelled)])
    await until(lambda: told.ended["job", Ending.CRASHED] >= 2)


async def test_a_run_that_is_not_even_a_coroutine_is_a_crash(scheduler, told, a_job, until) -> None:
    def broken(slot):
        raise TypeError

    scheduler.add([a_job(run=broken)])
    await until(lambda: told.ended["job", Ending.CRASHED] >= 2)


async def test_an_observer_that_raises_stops_nothing(until, a_job) -> None:
    class Broken(Recorder):
        def on_lag(self, job, lag_s):
            super().on_lag(job, lag_s)
            raise RuntimeError

        def on_loop_lag(self, lag_s):
            super().on_loop_lag(lag_s)
            raise RuntimeError

    told = Broken()
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    logging.getLogger("apscheduler.executors.default").disabled = True
    scheduler = Scheduler(told, patience=Patience())
    scheduler.start()
    scheduler.add([a_job()])
    await until(lambda: told.runs("job") >= 3 and len(told.loop_lags) >= 3)
    await scheduler.drain(0)
    logging.getLogger("apscheduler.executors.default").disabled = False


async def test_removal_cancels_the_run_and_waits_for_its_end(scheduler, told, a_job, until) -> None:
    cleaned = []

    async def tidy(slot) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(slot)

    scheduler.add([a_job(run=tidy, every_s=5.0, deadline_s=60)])
    await until(lambda: told.runs("job") == 1)
    await scheduler.remove(["job"])
    assert len(cleaned) == 1
    assert told.ended["job", Ending.CANCELLED] == 1


async def test_a_job_that_takes_over_a_name_starts_at_once(scheduler, told, a_job, until) -> None:
    async def stubborn(slot) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.3)

    scheduler.add([a_job(run=stubborn, deadline_s=60, every_s=5.0)])
    await until(lambda: told.runs("job") == 1)
    await scheduler.remove(["job"])
    scheduler.add([a_job(every_s=5.0)])
    await until(lambda: told.ended["job", Ending.FINISHED] == 1)
    assert told.ended["job", Ending.ABANDONED] == 1
    await until(lambda: scheduler.abandoned == 0)


async def test_drain_lets_runs_finish_and_starts_no_more(told, a_job, until) -> None:
    scheduler = Scheduler(told)
    scheduler.start()

    async def slow(slot) -> None:
        await asyncio.sleep(0.35)

    scheduler.add([a_job(run=slow), a_job("quick")])
    await until(lambda: told.runs("job") == 1)
    assert await scheduler.drain(10) == 0
    assert told.ended["job", Ending.FINISHED] == told.runs("job") == 1
    runs = told.runs("quick")
    await asyncio.sleep(0.25)
    assert told.runs("quick") == runs


async def test_drain_cancels_what_outlives_the_grace(told, a_job, until, caplog) -> None:
    scheduler = Scheduler(told)
    scheduler.start()
    scheduler.add([a_job(run=hang, deadline_s=60)])
    await until(lambda: told.runs("job") == 1)
    assert await scheduler.drain(0.05) == 0
    assert told.ended["job", Ending.CANCELLED] == 1
    assert "cancelling the runs that did not end within 0.05 s" in caplog.text


async def test_drain_tells_how_many_runs_nothing_can_end(told, a_job, until) -> None:
    release = asyncio.Event()

    async def stubborn(slot) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await release.wait()
        await release.wait()

    scheduler = Scheduler(told, patience=Patience(beyond_deadline_s=0.05, after_cancel_s=0.05))
    scheduler.start()
    scheduler.add([a_job(run=stubborn, deadline_s=60)])
    await until(lambda: told.runs("job") == 1)
    assert await scheduler.drain(0.05) == 1
    release.set()
    await until(lambda: scheduler.abandoned == 0)
