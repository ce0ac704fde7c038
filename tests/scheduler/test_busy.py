import asyncio

from exporter.model.job import JobKind
from exporter.model.schedule import MissCause
from exporter.scheduler.job import Ending
from exporter.scheduler.locks import Needs

SHARED = Needs(shared=frozenset({"target:a"}))
EXCLUSIVE = Needs(exclusive=frozenset({"target:a"}))


async def test_probes_of_one_target_run_together(scheduler, told, a_job, until) -> None:
    together = 0
    running = 0

    async def run(slot) -> None:
        nonlocal running, together
        running += 1
        together = max(together, running)
        await asyncio.sleep(0.05)
        running -= 1

    scheduler.add(a_job(f"{n}", run=run, needs=SHARED) for n in range(3))
    await until(lambda: told.runs("0") >= 3)
    assert together >= 2
    assert MissCause.BUSY not in {cause for _, cause in told.missed}


async def test_probes_skip_while_a_load_test_has_their_target(scheduler, told, a_job, until) -> None:
    release = asyncio.Event()

    async def load(slot) -> None:
        await release.wait()

    scheduler.add([a_job("load", run=load, needs=EXCLUSIVE, every_s=60.0, deadline_s=60)])
    await until(lambda: told.runs("load") == 1)
    scheduler.add([a_job("probe", needs=SHARED), a_job("elsewhere")])
    await until(lambda: told.missed["probe", MissCause.BUSY] >= 3)
    assert told.runs("probe") == 0
    assert told.runs("elsewhere") >= 2
    release.set()
    await until(lambda: told.ended["probe", Ending.FINISHED] >= 1)


async def test_readiness_follows_the_probes(scheduler, told, a_job, until) -> None:
    assert scheduler.readiness("probe").ready, "without probes there is nothing to wait for"

    async def crash(slot) -> None:
        raise ValueError

    scheduler.add([a_job("bad", run=crash), a_job("bench", kind=JobKind.BENCH)])
    await until(lambda: told.ended["bad", Ending.CRASHED] >= 2 and told.runs("bench") >= 2)
    assert scheduler.readiness("probe").reason == "no probe has finished yet"
    scheduler.add([a_job("good", deadline_s=0.1)])
    await until(lambda: told.ended["good", Ending.FINISHED] >= 1)
    assert scheduler.readiness("probe").ready
    await scheduler.remove(["good", "bad"])
    scheduler.add([a_job("new", delay_s=5.0)])
    assert scheduler.readiness("probe").ready, "a reload is not an outage"


async def test_a_service_whose_probes_all_fell_silent_is_not_ready(scheduler, told, a_job, until) -> None:
    turns = 0

    async def once(slot) -> None:
        nonlocal turns
        turns += 1
        if turns > 1:
            raise ValueError

    scheduler.add([a_job(run=once, every_s=0.2, deadline_s=1.0)])
    await until(lambda: told.ended["job", Ending.FINISHED] == 1)
    assert scheduler.readiness("probe").ready
    await until(lambda: not scheduler.readiness("probe").ready)
    assert scheduler.readiness("probe").reason.startswith("no probe has finished for 3 intervals")


async def test_probes_that_give_way_to_a_load_test_keep_the_service_ready(
    scheduler, told, a_job, until
) -> None:
    scheduler.add([a_job("probe", needs=SHARED, every_s=0.3, deadline_s=1.0)])
    await until(lambda: told.ended["probe", Ending.FINISHED] >= 1)

    async def load(slot) -> None:
        await asyncio.Event().wait()

    scheduler.add([a_job("load", kind=JobKind.BENCH, run=load, needs=EXCLUSIVE, every_s=60.0, deadline_s=60)])
    await until(lambda: told.missed["probe", MissCause.BUSY] >= 8)
    assert scheduler.readiness("probe").ready
