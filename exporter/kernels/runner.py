"""One run of a bench plan: a worker is started, asked, and gone again when the report is there."""

import logging
import os
import time
from collections.abc import Awaitable, Callable

from exporter.adapters.child import Child, ChildEnd, start_child
from exporter.adapters.child_environment import child_environment
from exporter.kernels.session import Session
from exporter.kernels.suite import SUITES, Suite
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import BenchReport, Environment, KernelResult, KernelRun, Measurement, Verdict
from exporter.model.protocol import Answer, Describe, Failed, Measure, Unsupported

WORKER = "exporter.workers.kernel_worker"
THREADS = 1
"""A second thread made the same kernel 3.5 to 6 times slower under foreign load, and its times useless."""
DESCRIBE_S = 30.0

logger = logging.getLogger(__name__)


async def start_worker() -> Child | ChildEnd:
    """Start a kernel worker with our environment's harmless part."""
    environment = child_environment(os.environ, threads=THREADS)
    return await start_child(WORKER, str(os.getpid()), environment=environment)


class BenchRunner:
    """Runs bench plans, and says once what it could not do, not at every run."""

    def __init__(
        self,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
        unix_s: Callable[[], float] = time.time,
        start: Callable[[], Awaitable[Child | ChildEnd]] = start_worker,
        announce: Callable[[str], None] = logger.warning,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._start = start
        self._announce = announce
        self._said: set[str] = set()

    async def run(self, plan: BenchPlan) -> BenchReport:
        """Run the plan's suite once and report whatever happened; cancelling leaves no process behind.

        Raises:
            KeyError: there is no suite of that name (the configuration is checked against ``SUITES``).
        """
        suite = SUITES[plan.suite]
        begin_s = self._monotonic_s()
        async with Session(self._start) as session:
            found = await session.ask(Describe(), DESCRIBE_S)
            if isinstance(found, Environment):
                devices, absent = _choose(plan.devices, found)
                runs = suite.runs_on(devices)
                results = await self._measure(session, runs, begin_s + suite.deadline_s)
            else:
                absent, results = (), _never_described(found, suite, plan)
        report = BenchReport(
            suite=suite.name,
            supported=_supported(found),
            detail="" if isinstance(found, Environment | Measurement) else found.detail,
            environment=found if isinstance(found, Environment) else None,
            absent=absent,
            results=results,
            seconds=self._monotonic_s() - begin_s,
            finished_unix_s=self._unix_s(),
        )
        self._say(report)
        return report

    async def _measure(
        self, session: Session, runs: tuple[KernelRun, ...], until_s: float
    ) -> tuple[KernelResult, ...]:
        results = []
        for run in runs:
            if self._monotonic_s() >= until_s:
                late = "the suite's time was used up before this run"
                results.append(KernelResult(run=run, verdict=Verdict.NOT_STARTED, detail=late))
            else:
                results.append(_judge(run, await session.ask(Measure(run=run), run.case.deadline_s)))
        return tuple(results)

    def _say(self, report: BenchReport) -> None:
        lines = [f"device {name} is not there: no kernel bench on it" for name in report.absent]
        if report.supported is False:
            lines.append(f"kernel benches are off, everything else runs: {report.detail}")
        for line in lines:
            if line not in self._said:
                self._announce(line)
        self._said = set(lines)
        for result in report.results:
            if result.verdict is not Verdict.OK:
                what = "/".join(result.run.labels)
                self._announce(f"kernel bench {what}: {result.verdict.value}: {result.detail}")


def _choose(asked: tuple[str, ...], found: Environment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the devices to measure on (all when none is asked for), and those asked for that are absent."""
    there = tuple(device.device for device in found.devices)
    if not asked:
        return there, ()
    return tuple(d for d in asked if d in there), tuple(d for d in asked if d not in there)


def _supported(found: Answer | ChildEnd) -> bool | None:
    if isinstance(found, Unsupported):
        return False
    return True if isinstance(found, Environment) else None


def _never_described(found: Answer | ChildEnd, suite: Suite, plan: BenchPlan) -> tuple[KernelResult, ...]:
    if isinstance(found, Unsupported):
        return ()
    return tuple(_judge(run, found) for run in suite.runs_on(plan.devices or ("cpu",)))


def _judge(run: KernelRun, answer: Answer | ChildEnd) -> KernelResult:
    """Turn one answer into a result; times that are not what was asked for are bad output."""
    match answer:
        case ChildEnd(fault, detail):
            return KernelResult(run=run, verdict=Verdict(fault.value), detail=detail)
        case Failed(verdict=verdict, detail=detail) if verdict is not Verdict.OK:
            return KernelResult(run=run, verdict=verdict, detail=detail)
        case Unsupported(detail=detail):
            return KernelResult(run=run, verdict=Verdict.ERROR, detail=detail)
        case Measurement(correct=False, relative_error=error):
            off = "not finite" if error is None else f"off by {error:.1e}"
            detail = f"the result is {off}, at most {run.case.dtype.tolerance:.0e} is allowed; not timed"
            return KernelResult(run=run, verdict=Verdict.INCORRECT, detail=detail, measurement=answer)
        case Measurement() if _has_times(run, answer):
            return KernelResult(run=run, verdict=Verdict.OK, measurement=answer)
        case _:
            wrong = f"{run.case.repeats} positive times were asked for, the answer has others"
            return KernelResult(run=run, verdict=Verdict.BAD_OUTPUT, detail=wrong)


def _has_times(run: KernelRun, answer: Measurement) -> bool:
    clocks = [answer.wall_s, answer.cpu_s]
    if run.device != "cpu":
        clocks.append(answer.device_s)
    return all(len(times) == run.case.repeats and min(times) > 0 for times in clocks)
