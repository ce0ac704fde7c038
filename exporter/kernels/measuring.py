"""Asks a worker for cases and turns its answers into results."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from exporter.adapters.child import ChildEnd
from exporter.kernels.energy import EnergyMeter
from exporter.kernels.session import Session
from exporter.kernels.suite import Suite
from exporter.model.attention import AttentionShape
from exporter.model.call_energy import CallEnergy, call_energy
from exporter.model.kernel import KernelCase, KernelRun, Variant, Verdict
from exporter.model.kernel_report import KernelResult
from exporter.model.observation import Group, Seen, Sustained
from exporter.model.protocol import Answer, Failed, Measure, Sustain, Unsupported
from exporter.model.roofline import Peak
from exporter.model.validity import judge

_METERED = Variant.SDPA
_SUSTAIN_MARGIN_S = 10.0

Progress = Callable[[str], None]
"""Told what is about to be measured."""


class Measuring:
    """Runs the cases of one suite on one device after the other, until a moment of the clock."""

    def __init__(
        self,
        session: Session,
        suite: Suite,
        *,
        until_s: float,
        peaks: dict[str, Peak],
        meter: EnergyMeter | None,
        progress: Progress,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._session = session
        self._suite = suite
        self._until_s = until_s
        self._peaks = peaks
        self._meter = meter
        self._progress = progress
        self._monotonic_s = monotonic_s

    async def device(self, device: str) -> list[KernelResult]:
        """Return a result for every run of the suite on a device, in the suite's order."""
        results = []
        for case in self._suite.cases_on(device):
            results += await self.case(case, device)
            if self._suite.fresh:
                await self._session.close()
        return results

    async def ceilings_again(self, device: str) -> list[KernelResult]:
        """Measure the ceilings once more, where the suite wants to know how calm the run was."""
        results = []
        for case in self._suite.cases_on(device) if self._suite.ceilings_again else ():
            if not isinstance(case.work, AttentionShape):
                results += await self.case(case, device)
        return results

    async def case(self, case: KernelCase, device: str) -> list[KernelResult]:
        """Return one result a variant.

        A worker that dies over several variants is asked for each of them again, alone: the others are well.
        """
        self._progress(f"{case.name} {case.dtype} on {device}")
        answer = await self._ask(case, device, case.variants)
        if isinstance(answer, ChildEnd) and len(case.variants) > 1 and self._left_s() > 0:
            answers = [(variant, await self._ask(case, device, (variant,))) for variant in case.variants]
        else:
            answers = [(variant, answer) for variant in case.variants]
        results = [self._result(case, device, variant, given) for variant, given in answers]
        if self._suite.energy_s is not None and isinstance(case.work, AttentionShape):
            results = [await self._metered(result, self._suite.energy_s) for result in results]
        return results

    async def _ask(
        self, case: KernelCase, device: str, variants: tuple[Variant, ...]
    ) -> Answer | ChildEnd | None:
        """Return None when the suite's time is used up."""
        left_s = self._left_s()
        if left_s <= 0:
            return None
        question = Measure(case=case, device=device, variants=variants)
        return await self._session.ask(question, min(case.deadline_s, left_s + case.budget_s))

    def _left_s(self) -> float:
        return self._until_s - self._monotonic_s()

    def _result(
        self, case: KernelCase, device: str, variant: Variant, answer: Answer | ChildEnd | None
    ) -> KernelResult:
        run = KernelRun(case=case, variant=variant, device=device)
        if answer is None:
            late = "the suite's time was used up before this run"
            return KernelResult(run=run, verdict=Verdict.NOT_STARTED, detail=late)
        if not isinstance(answer, Group):
            return failed(run, answer)
        seen = next((item for item in answer.seen if item.variant is variant), None)
        if seen is None:
            seen = Seen(
                variant=variant, verdict=Verdict.BAD_OUTPUT, detail="the answer leaves this variant out"
            )
        verdict, detail = judge(run, seen, answer.conditions, self._peaks.get(device))
        return KernelResult(
            run=run,
            verdict=verdict,
            detail=detail,
            measurement=seen.measurement,
            conditions=answer.conditions,
        )

    async def _metered(self, result: KernelResult, seconds: float) -> KernelResult:
        run = result.run
        wanted = result.verdict is Verdict.OK and run.variant is _METERED
        if (
            not wanted
            or self._meter is None
            or not self._meter.covers(run.device)
            or self._left_s() < seconds
        ):
            return result
        self._progress(f"energy of {run.case.name} {run.case.dtype} on {run.device}")
        energy = await energy_of(self._session, self._meter, run, seconds)
        return replace(result, energy=energy)


async def energy_of(
    session: Session, meter: EnergyMeter, run: KernelRun, seconds: float
) -> CallEnergy | None:
    """Return the energy of one call; None when the window gave no true value."""
    sustain = session.ask(Sustain(run=run, seconds=seconds), seconds + _SUSTAIN_MARGIN_S)
    sustained, ticks = await asyncio.gather(sustain, meter.ticks(run.device, seconds))
    return call_energy(ticks, sustained.marks) if isinstance(sustained, Sustained) else None


def failed(run: KernelRun, answer: Answer | ChildEnd) -> KernelResult:
    """Return the result of a run whose worker gave no group of results."""
    match answer:
        case ChildEnd(fault, detail):
            verdict = Verdict(fault.value)
        case Failed(verdict=verdict, detail=detail) if verdict is not Verdict.OK:
            pass
        case Unsupported(detail=detail):
            verdict = Verdict.ERROR
        case _:
            verdict, detail = Verdict.BAD_OUTPUT, "the answer is none to this question"
    return KernelResult(run=run, verdict=verdict, detail=detail)
