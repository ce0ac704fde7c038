"""Scheduled load tests as jobs: the target to itself, its probes skipping, one test at a time."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from exporter.app.meter import Meter
from exporter.load.order import Live, LoadError, LoadOrder
from exporter.load.runner import LoadRunner
from exporter.model.efficiency import Efficiency
from exporter.model.job import JobKind
from exporter.model.load_result import LoadRun
from exporter.model.metering import Metering
from exporter.model.schedule import Slot
from exporter.reload import LoadTest
from exporter.scheduler.cron import LOOK_EVERY_S, CronGate
from exporter.scheduler.job import Job

PATIENCE_S = 120.0
"""How long a test waits for the probes that are going to leave the target."""
MARGIN_S = 60.0
"""On top of the run's own bound: starting workers, and the last requests' timeout."""

Claim = Callable[[str, float], AbstractAsyncContextManager[bool]]


class Energy(Protocol):
    """Who measures energy, and is told what was done with it."""

    @property
    def meter(self) -> Metering:
        """The meter."""

    def loaded(self, target: str, efficiency: Efficiency) -> None:
        """Take the result of a load run, which had the target to itself."""


class LoadJobs:
    """Makes jobs of scheduled load tests whose results go to the meter."""

    def __init__(
        self,
        *,
        runner: LoadRunner,
        meter: Meter,
        claim: Claim,
        unix_s: Callable[[], float],
        energy: Energy | None = None,
    ) -> None:
        self._runner = runner
        self._meter = meter
        self._claim = claim
        self._unix_s = unix_s
        self._energy = energy

    def job(self, test: LoadTest) -> Job:
        """Return the job of one load test."""
        spec = test.spec
        gate = None if spec.cron is None else CronGate(spec.cron, self._unix_s)

        async def run(_slot: Slot) -> None:
            if gate is None or gate.is_due():
                await self._run(test)
            if gate is not None:
                gate.skip()

        return Job(
            name=load_job_name(test),
            kind=JobKind.LOAD,
            every_s=LOOK_EVERY_S if spec.every_s is None else spec.every_s,
            deadline_s=spec.plan.bounds.seconds + spec.plan.timeout_s + PATIENCE_S + MARGIN_S,
            run=run,
        )

    async def _run(self, test: LoadTest) -> None:
        # Claimed here and not by the scheduler, which only tries: probes that overlap would keep a test that
        # comes up once a night from ever getting its target.
        async with self._claim(f"target:{test.target.name}", PATIENCE_S) as is_ours:
            if not is_ours:
                self._meter.load_not_run(test, "busy")
                return
            metering = None if self._energy is None else self._energy.meter
            order = LoadOrder(plan=test.spec.plan, target=test.target, pricing=test.pricing, meter=metering)
            try:
                result = await self._runner.run(order, watch=lambda live: self._show(test, live))
            except LoadError as error:
                self._meter.load_not_run(test, "not_begun", str(error))
                return
            finally:
                self._meter.load_idle(test)
            self._meter.loaded(test, result)
            self._tell_energy(test, result)

    def _tell_energy(self, test: LoadTest, run: LoadRun) -> None:
        """Pass on the efficiency of the last step whose energy is known."""
        known = [step for step in run.steps if step.joules is not None]
        if self._energy is not None and known:
            tally, joules = known[-1].tally, known[-1].joules or 0.0
            efficiency = Efficiency(
                joules=joules, seconds=tally.wall_s, tokens=tally.output_tokens, requests=tally.succeeded
            )
            self._energy.loaded(test.target.name, efficiency)

    def _show(self, test: LoadTest, live: Live) -> None:
        self._meter.loading(test, live.in_flight, live.level)


def load_job_name(test: LoadTest) -> str:
    """Return the unique name of a load test's job."""
    return f"load:{test.target.name}/{test.spec.plan.scenario}"
