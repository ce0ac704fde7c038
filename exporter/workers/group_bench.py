"""One case on one device: forecast, check, then time its variants in turns."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from exporter.model.kernel import Backend, Dtype, KernelCase, KernelRun, Variant, Verdict
from exporter.model.observation import Group, Mark, Measurement, Seen, Sustained
from exporter.model.protocol import Measure
from exporter.model.validity import MIN_SAMPLES
from exporter.workers import accelerators, forecast
from exporter.workers.accelerators.base import Call
from exporter.workers.faults import one_line, verdict_of
from exporter.workers.stopwatch import CpuWatch, DeviceWatch, Times, Watch
from exporter.workers.subjects import Workshop
from exporter.workers.witness import Witness

_MARK_EVERY_S = 0.02
_MAY_BE_MISSING = frozenset(
    {Variant.SDPA_MATH, Variant.SDPA_FLASH, Variant.SDPA_EFFICIENT, Variant.SDPA_CUDNN}
    | {Variant.COMPILED, Variant.FLEX, Variant.NESTED}
)


@dataclass
class _Checked:
    """A variant whose result is right."""

    call: Call
    backend: Backend
    error: float
    graphed: bool = False
    times: Times = field(default_factory=Times)


def measure(question: Measure) -> Group:
    """Answer for every variant asked for.

    The variants take turns, in another order each round, so that whatever drifts drifts for all of them.
    When the case's budget is used up the rounds end early.
    """
    end_s = time.monotonic() + question.case.budget_s
    with _prepared(question.case, question.device) as (device, watch):
        # From before the check, since the kernel's account is too coarse for the shortest of rounds.
        witness = Witness(accelerators.of(device), device)
        seen, checked = _check_all(question, device, watch, end_s)
        conditions = None
        if checked:
            for item in checked.values():
                for _ in range(question.case.warmup):
                    item.call()
            if any(variant.compiles for variant in checked):
                witness = Witness(accelerators.of(device), device)  # the compilers' time is not foreign
            _take_turns(list(checked.values()), question.case.repeats, watch, end_s)
            conditions = witness.conditions()
        seen |= {variant: _seen(variant, item, watch) for variant, item in checked.items()}
    return Group(seen=tuple(seen[variant] for variant in question.variants), conditions=conditions)


def sustain(run: KernelRun, seconds: float) -> Sustained:
    """Call one variant without a pause, and note now and then how many calls have ended."""
    with _prepared(run.case, run.device) as (device, _):
        call = Workshop(run.case, device).build(run.variant).call
        accelerator = accelerators.of(device)
        wait: Callable[[], None] = (lambda: accelerator.wait(device)) if accelerator else (lambda: None)
        call()
        wait()
        marks, done = [Mark(monotonic_s=time.monotonic(), calls=0)], 0
        begin_s, chunk = marks[0].monotonic_s, 1
        while marks[-1].monotonic_s - begin_s < seconds:
            for _ in range(chunk):
                call()
            wait()
            done += chunk
            marks.append(Mark(monotonic_s=time.monotonic(), calls=done))
            if marks[-1].monotonic_s - marks[-2].monotonic_s < _MARK_EVERY_S / 2:
                chunk *= 2
    return Sustained(marks=tuple(marks))


@contextmanager
def _prepared(case: KernelCase, name: str) -> Iterator[tuple[torch.device, Watch]]:
    device = torch.device(name)
    accelerator = accelerators.of(device)
    torch.set_float32_matmul_precision("high" if case.dtype is Dtype.TF32 else "highest")
    watch = DeviceWatch(accelerator, device) if accelerator else CpuWatch(torch.get_num_threads())
    try:
        with torch.no_grad():
            yield device, watch
    finally:
        del watch
        if accelerator:
            accelerator.release()


def _check_all(
    question: Measure, device: torch.device, watch: Watch, end_s: float
) -> tuple[dict[Variant, Seen], dict[Variant, _Checked]]:
    """Return those that are not to be timed and why, and those that are."""
    case, accelerator = question.case, accelerators.of(device)
    seen: dict[Variant, Seen] = {}
    fitting = tuple(v for v in question.variants if forecast.fits(case, v, device, accelerator))
    seconds = forecast.seconds_a_call(case, fitting, device, accelerator)
    left_s = end_s - time.monotonic()
    admitted = forecast.affordable(case, seconds, left_s, MIN_SAMPLES)
    workshop, checked = Workshop(case, device), {}
    for variant in question.variants:
        if variant not in admitted:
            seen[variant] = _too_costly(variant, seconds.get(variant), left_s)
            continue
        found = _check(workshop, case, variant, watch)
        if isinstance(found, Seen):
            seen[variant] = found
        else:
            checked[variant] = found
    return seen, checked


def _too_costly(variant: Variant, one: float | None, left_s: float) -> Seen:
    why = (
        "its memory is not there"
        if one is None
        else f"a call would take {one:.2g} s, {left_s:.2g} s are left"
    )
    return Seen(variant=variant, verdict=Verdict.PREDICTED_COST, detail=f"not begun: {why}")


def _check(workshop: Workshop, case: KernelCase, variant: Variant, watch: Watch) -> Seen | _Checked:
    try:
        subject = workshop.build(variant)
        error = subject.error()
        backend = subject.backend()
        if error is None or error > case.dtype.tolerance:
            wrong = Measurement(backend=backend, relative_error=error, correct=False, clock=watch.source)
            return Seen(variant=variant, verdict=Verdict.INCORRECT, measurement=wrong)
        call, graphed = watch.prepare(subject.call)
    except Exception as problem:  # noqa: BLE001 - one variant that fails is not the end of the others
        verdict, detail = verdict_of(problem), one_line(problem)
    else:
        return _Checked(call, backend, error, graphed)
    may_be_missing = variant in _MAY_BE_MISSING or case.dtype in {Dtype.FLOAT8, Dtype.INT8}
    if verdict is Verdict.ERROR and may_be_missing:
        verdict = Verdict.BACKEND_UNAVAILABLE
    return Seen(variant=variant, verdict=verdict, detail=detail)


def _take_turns(checked: list[_Checked], repeats: int, watch: Watch, end_s: float) -> None:
    order = random.Random(repeats)  # noqa: S311 - only the order of the turns
    for _ in range(repeats):
        order.shuffle(checked)
        for item in checked:
            watch.time(item.call, item.times)
        if time.monotonic() > end_s:
            return


def _seen(variant: Variant, item: _Checked, watch: Watch) -> Seen:
    measurement = Measurement(
        backend=item.backend,
        relative_error=item.error,
        correct=True,
        clock=watch.source,
        wall_s=tuple(item.times.wall_s),
        cpu_s=tuple(item.times.cpu_s),
        device_s=tuple(item.times.device_s),
        preemptions=tuple(item.times.preemptions),
        graphed=item.graphed,
    )
    return Seen(variant=variant, verdict=Verdict.OK, measurement=measurement)
