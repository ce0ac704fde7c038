import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from exporter.model.job import JobKind
from exporter.model.schedule import Slot
from exporter.scheduler.guard import Patience
from exporter.scheduler.job import Job
from exporter.scheduler.service import Scheduler
from tests.scheduler.scheduler_recorder import Recorder

IMPATIENT = Patience(beyond_deadline_s=0.05, after_cancel_s=0.05)


@pytest.fixture
def told() -> Recorder:
    return Recorder()


@pytest.fixture
async def scheduler(told: Recorder) -> AsyncIterator[Scheduler]:
    scheduler = Scheduler(told, patience=IMPATIENT)
    scheduler.start()
    yield scheduler
    await scheduler.drain(0)


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], object]:
    async def wait(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - conditions on counters that no event announces
                await asyncio.sleep(0.005)

    return wait


@pytest.fixture
def a_job() -> Callable[..., Job]:
    async def nothing(slot: Slot) -> None:
        return None

    def make(name: str = "job", **changes: object) -> Job:
        fields = {"kind": JobKind.PROBE, "every_s": 0.1, "deadline_s": 1.0, "run": nothing, "delay_s": 0.0}
        return Job(name=name, **(fields | changes))

    return make
