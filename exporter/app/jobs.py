"""Scheduled jobs made from the configuration."""

import time
from collections.abc import Awaitable, Callable

from exporter.app.meter import Meter, confirm_job_name, probe_job_name
from exporter.app.probing import Probing
from exporter.kernels.runner import BenchRunner
from exporter.kernels.suite import SUITES
from exporter.model.configuration import BenchPlan
from exporter.model.confirmation import Confirmation
from exporter.model.job import JobKind
from exporter.model.results import ProbeResult
from exporter.model.schedule import Slot
from exporter.model.sla import breaks_any
from exporter.model.target import ProbeSpec, Target
from exporter.power.service import Power
from exporter.scheduler.guard import is_given_up
from exporter.scheduler.job import Job
from exporter.scheduler.locks import Needs

BENCH_DELAY_S = 1.0
"""A bench starts soon after the service: a newcomer waits for it, and probes have their own stagger."""
READING_S = 5.0
"""On top of a request's deadline: the largest answer is read for 2.5 s, after it has come."""
BENCH_MARGIN_S = 120.0
"""On top of a suite's own time: starting the worker and importing torch on a busy machine."""


class Jobs:
    """Makes jobs whose results go to the meter."""

    def __init__(self, *, probing: Probing, benches: BenchRunner, meter: Meter, power: Power) -> None:
        self._probing = probing
        self._benches = benches
        self._meter = meter
        self._power = power

    def probe(self, target: Target, spec: ProbeSpec) -> tuple[Job, ...]:
        """Return the jobs of one probe, which share their target: its schedule, and its confirmations."""
        needs = Needs(shared=frozenset({f"target:{target.name}"}))
        confirmation = None if spec.confirm is None else Confirmation(spec.confirm)
        name = probe_job_name(target, spec)
        scheduled = Job(
            name=name,
            kind=JobKind.PROBE,
            every_s=spec.every_s,
            deadline_s=spec.timeout_s + READING_S,
            run=self._probe_of(name, target, spec, confirmation),
            needs=needs,
        )
        if confirmation is None:
            return (scheduled,)
        confirming = Job(
            name=confirm_job_name(target, spec),
            kind=JobKind.CONFIRM,
            every_s=confirmation.confirm.every_s,
            deadline_s=spec.timeout_s + READING_S,
            run=self._confirming(name, target, spec, confirmation),
            needs=needs,
        )
        return (scheduled, confirming)

    def bench(self, plan: BenchPlan) -> Job:
        """Return the job of one bench plan; a bench has its devices to itself."""

        async def run(_slot: Slot) -> None:
            self._meter.benched(await self._benches.run(plan))

        return Job(
            name=bench_job_name(plan),
            kind=JobKind.BENCH,
            every_s=plan.every_s,
            deadline_s=SUITES[plan.suite].deadline_s + BENCH_MARGIN_S,
            run=run,
            needs=Needs(exclusive=_devices(plan)),
            delay_s=BENCH_DELAY_S,
        )

    def _probe_of(
        self, name: str, target: Target, spec: ProbeSpec, confirmation: Confirmation | None
    ) -> Callable[[Slot], Awaitable[None]]:
        async def run(_slot: Slot) -> None:
            result = await self._probing.run(target, spec)
            if is_given_up():
                return
            self._meter.probed(name, result)
            self._worked(target, result)
            if confirmation is not None and breaks_any(result):
                confirmation.breached(time.monotonic())

        return run

    def _worked(self, target: Target, result: ProbeResult) -> None:
        """Credit the target's power source with what it did for a request."""
        if result.outcome.counts_for_sla:
            self._power.worked(target.name, tokens=result.tokens.output or 0, requests=1)

    def _confirming(
        self, name: str, target: Target, spec: ProbeSpec, confirmation: Confirmation
    ) -> Callable[[Slot], Awaitable[None]]:
        async def run(_slot: Slot) -> None:
            if not confirmation.take(time.monotonic()):
                return
            result = await self._probing.run(target, spec)
            self._meter.confirmed(name, result)
            self._worked(target, result)
            if breaks_any(result):
                confirmation.breached(time.monotonic())

        return run


def bench_job_name(plan: BenchPlan) -> str:
    """Return the unique name of a bench's job."""
    return f"bench:{plan.suite}:{','.join(plan.devices) or 'auto'}:{plan.every_s:g}"


def _devices(plan: BenchPlan) -> frozenset[str]:
    """Name what a bench holds; which accelerators exist is known to the worker only, so they are one."""
    if not plan.devices:
        return frozenset({"device:cpu", "device:accelerators"})
    return frozenset("device:cpu" if device == "cpu" else "device:accelerators" for device in plan.devices)
