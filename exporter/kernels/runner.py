"""One run of a bench plan: whether now is the time, a worker, its answers, and what they mean."""

import asyncio
import logging
import os
import platform
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from exporter import __version__
from exporter.adapters import machine
from exporter.adapters.child import Child, ChildEnd, start_child
from exporter.adapters.child_environment import child_environment
from exporter.kernels import assess, excuse
from exporter.kernels.baseline import Baselines
from exporter.kernels.energy import EnergyMeter
from exporter.kernels.measuring import Measuring, Progress, failed
from exporter.kernels.session import Session
from exporter.kernels.suite import SUITES, Suite
from exporter.kernels.warm import Key, WarmSessions
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import Verdict
from exporter.model.kernel_report import BenchReport, KernelResult, SkipReason
from exporter.model.observation import DeviceFound, Environment
from exporter.model.peaks import peak_of
from exporter.model.protocol import Answer, Describe, Unsupported
from exporter.model.regression import fingerprint
from exporter.model.roofline import Ceilings, Peak

WORKER = "exporter.workers.kernel_worker"
DESCRIBE_S = 30.0

logger = logging.getLogger(__name__)


async def start_worker(threads: int) -> Child | ChildEnd:
    """Start a kernel worker with our environment's harmless part, and as many threads as can run at once."""
    environment = child_environment(os.environ, threads=min(threads, machine.usable_cores()))
    return await start_child(WORKER, str(os.getpid()), environment=environment)


def _local_now() -> datetime:
    return datetime.now().astimezone()


def _nobody(what: str) -> None:
    """Tell nobody what is being measured."""
    del what


class BenchRunner:
    """Runs bench plans, and says once what it could not do, not at every run.

    ``considerate`` leaves a run out, and says so in the report, in quiet hours and while others use the
    machine; a person who asked for a bench gets it, marked as contended.
    """

    def __init__(
        self,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
        unix_s: Callable[[], float] = time.time,
        now: Callable[[], datetime] = _local_now,
        start: Callable[[int], Awaitable[Child | ChildEnd]] = start_worker,
        announce: Callable[[str], None] = logger.warning,
        considerate: bool = False,
        cpu_is_busy: Callable[[], Awaitable[bool]] = excuse.cpu_is_busy,
        meter: EnergyMeter | None = None,
        progress: Progress = _nobody,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._now = now
        self._start = start
        self._announce = announce
        self._considerate = considerate
        self._cpu_is_busy = cpu_is_busy
        self._meter = meter
        self._progress = progress
        self._said: set[str] = set()
        self._warm = WarmSessions(monotonic_s)
        self._baselines: dict[str | None, Baselines] = {}

    async def run(self, plan: BenchPlan) -> BenchReport:
        """Run the plan's suite once and report whatever happened; cancelling leaves no busy process behind.

        Raises:
            KeyError: there is no suite of that name (the configuration is checked against ``SUITES``).
        """
        suite, begin_s = SUITES[plan.suite], self._monotonic_s()
        reason = await self._excuse(plan)
        if reason is not None:
            report = self._report(suite, begin_s, supported=None)
            return replace(report, skipped=reason)
        key: Key = (plan.devices, plan.threads)
        session = self._warm.take(key, lambda: self._start(plan.threads))
        is_well = False
        try:
            report = await self._measured(session, suite, plan, begin_s)
            is_well = not any(r.verdict in _UNWELL for r in report.results)
        finally:
            await self._warm.give_back(key, session, keep=suite.warm and is_well)
        report = replace(report, seconds=self._monotonic_s() - begin_s)
        self._say(report)
        return report

    async def aclose(self) -> None:
        """End the workers that rest between runs."""
        await self._warm.aclose()

    async def _excuse(self, plan: BenchPlan) -> SkipReason | None:
        if not self._considerate:
            return None
        if excuse.is_quiet(plan, self._now()):
            return SkipReason.QUIET_HOURS
        return SkipReason.CPU_BUSY if await self._cpu_is_busy() else None

    async def _measured(self, session: Session, suite: Suite, plan: BenchPlan, begin_s: float) -> BenchReport:
        found = await session.ask(Describe(), DESCRIBE_S)
        if not isinstance(found, Environment):
            report = self._report(suite, begin_s, supported=False if isinstance(found, Unsupported) else None)
            detail = getattr(found, "detail", "the worker did not describe its devices")
            return replace(report, detail=detail, results=_never_described(found, suite, plan))
        devices, absent = _choose(plan.devices, found)
        busy = tuple(d.device for d in devices if self._considerate and d.other_processes)
        devices = tuple(device for device in devices if device.device not in busy)
        peaks = {d.device: p for d in devices if not d.partition and (p := peak_of(d.name, plan.peaks))}
        measuring = Measuring(
            session,
            suite,
            until_s=self._monotonic_s() + suite.deadline_s,
            peaks=peaks,
            meter=self._meter,
            progress=self._progress,
            monotonic_s=self._monotonic_s,
        )
        marks = {d.device: _fingerprint(d, found) for d in devices}
        results, ceilings = await self._each_device(measuring, plan, devices, marks, peaks)
        used = [r.energy.joules for r in results if r.energy is not None]
        return replace(
            self._report(suite, begin_s, supported=True),
            environment=found,
            absent=absent,
            skipped_devices=busy,
            results=results,
            ceilings=ceilings,
            fingerprints=tuple(marks.items()),
            peaks=tuple(peaks.items()),
            joules=sum(used) if used else None,
        )

    async def _each_device(
        self,
        measuring: Measuring,
        plan: BenchPlan,
        devices: tuple[DeviceFound, ...],
        marks: dict[str, str],
        peaks: dict[str, Peak],
    ) -> tuple[tuple[KernelResult, ...], tuple[Ceilings, ...]]:
        baselines = self._baselines_of(plan)
        results: list[KernelResult] = []
        ceilings: list[Ceilings] = []
        for device in devices:
            name = device.device
            there, again = await measuring.device(name), await measuring.ceilings_again(name)
            ceilings.append(assess.ceilings_of(name, there, again))
            there = [assess.placed(r, ceilings[-1], peaks.get(name)) for r in there]
            results += [assess.compared(r, device, marks[name], baselines) for r in there]
        await asyncio.to_thread(baselines.save)
        return tuple(results), tuple(ceilings)

    def _baselines_of(self, plan: BenchPlan) -> Baselines:
        if plan.state not in self._baselines:
            self._baselines[plan.state] = Baselines(Path(plan.state) if plan.state else None)
        return self._baselines[plan.state]

    def _report(self, suite: Suite, begin_s: float, *, supported: bool | None) -> BenchReport:
        return BenchReport(
            suite=suite.name,
            supported=supported,
            seconds=self._monotonic_s() - begin_s,
            finished_unix_s=self._unix_s(),
        )

    def _say(self, report: BenchReport) -> None:
        lines = [f"device {name} is not there: no kernel bench on it" for name in report.absent]
        if report.supported is False:
            lines.append(f"kernel benches are off, everything else runs: {report.detail}")
        for line in lines:
            if line not in self._said:
                self._announce(line)
        self._said = set(lines)
        for result in report.results:
            if result.verdict not in _USUAL:
                what = "/".join(result.run.labels)
                self._announce(f"kernel bench {what}: {result.verdict.value}: {result.detail}")


_UNWELL = frozenset({Verdict.ERROR, Verdict.OUT_OF_MEMORY, Verdict.INCORRECT, Verdict.BAD_OUTPUT})
"""After one of these a worker is not kept."""
_USUAL = frozenset(
    {Verdict.OK, Verdict.CONTENDED, Verdict.THROTTLED, Verdict.TOO_FEW_SAMPLES, Verdict.PREDICTED_COST}
    | {Verdict.BACKEND_UNAVAILABLE}
)
"""What a metric counts and a log need not repeat every five minutes."""


def _choose(asked: tuple[str, ...], found: Environment) -> tuple[tuple[DeviceFound, ...], tuple[str, ...]]:
    """Return the devices to measure on (all when none is asked for), and those asked for that are absent."""
    there = {device.device: device for device in found.devices}
    if not asked:
        return found.devices, ()
    return tuple(there[d] for d in asked if d in there), tuple(d for d in asked if d not in there)


def _fingerprint(device: DeviceFound, found: Environment) -> str:
    return fingerprint(
        device,
        torch_version=found.torch_version,
        threads=found.threads,
        kernel=platform.release(),
        image=__version__,
    )


def _never_described(found: Answer | ChildEnd, suite: Suite, plan: BenchPlan) -> tuple[KernelResult, ...]:
    if isinstance(found, Unsupported):
        return ()
    return tuple(failed(run, found) for run in suite.runs_on(plan.devices or ("cpu",)))
