"""A slot is accounted for once, however its run ends."""

import asyncio
from dataclasses import replace

from exporter.app.budgets import Budgets
from exporter.app.history import History
from exporter.app.jobs import Jobs
from exporter.app.meter import Meter
from exporter.app.probing import Probing
from exporter.kernels.runner import BenchRunner
from exporter.model.configuration import Configuration, WebOptions
from exporter.model.results import ProbeResult
from exporter.model.schedule import Slot
from exporter.model.target import ProbeSpec, Target
from exporter.power.service import Power
from exporter.probes.base import Doors, ProbeKind
from exporter.probes.chat import KIND
from exporter.scheduler.guard import Guard, Patience
from exporter.scheduler.job import Ending
from tests.metrics.builders import plan, result
from tests.model.streams import answered
from tests.probes.specs import FakeApi


async def test_an_abandoned_run_that_ends_after_all_is_not_counted_again() -> None:
    go_on = asyncio.Event()

    async def stubborn(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        return result()

    kind = ProbeKind(name="chat", params=KIND.params, clocks=KIND.clocks, run=stubborn)
    one = plan()
    meter = Meter(
        Configuration(targets=(one,), benches=(), web=WebOptions(host="h", port=1)), unix_s=lambda: 1.7e9
    )
    probing = Probing(
        kinds={"chat": kind},
        doors=Doors(api=FakeApi(answered()), unix_s=lambda: 1.7e9),
        budgets=Budgets(lambda: 1.7e9, path=None, on_spent=lambda *_: None, on_file=lambda _: None),
        history=History(),
    )
    jobs = Jobs(probing=probing, benches=BenchRunner(), meter=meter, power=Power(lambda _: None))
    (job,) = jobs.probe(one.target, one.probes[0])
    guard = Guard(Patience(beyond_deadline_s=0.01, after_cancel_s=0.01))
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    ending = await guard.attend(replace(job, deadline_s=0.01), Slot(0, 0), never)
    assert ending is Ending.ABANDONED
    meter.on_ended(job, ending)
    go_on.set()
    await asyncio.gather(*guard._abandoned)
    text = meter.render("").body.decode()
    who = 'model="llama",probe="short"'
    assert f'inference_probes_total{{{who},target="prod"}} 1.0' in text
    assert f'inference_probe_failures_total{{{who},reason="internal",target="prod"}} 1.0' in text
