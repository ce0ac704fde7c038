"""How far the kernel bench can be trusted, and what it costs; ``benchmarks/kernels.md`` has a run.

    python -m benchmarks.kernels SECTION...       light, load, prefill, wander, cycles; all when none is named

Each section prints Markdown.  A section that needs an idle machine tries again until ``PATIENCE_S`` is over,
and says how many tries were refused: refusing is what the bench is for.
"""

import asyncio
import os
import statistics
import sys
import time
from dataclasses import replace

import psutil

from exporter.adapters import machine
from exporter.kernels import cases
from exporter.kernels.assess import ceilings_of, placed
from exporter.kernels.measuring import Measuring
from exporter.kernels.runner import BenchRunner, start_worker
from exporter.kernels.session import Session
from exporter.kernels.suite import SUITES, Suite
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import Variant, Verdict
from exporter.model.kernel_report import BenchReport, KernelResult

LIGHT = BenchPlan(suite="light", every_s=300, devices=("cpu",))
PATIENCE_S = 240.0
CYCLES, CYCLES_S = 1000, 900.0
DISTURBED = {
    Verdict.OK,
    Verdict.CONTENDED,
    Verdict.THROTTLED,
    Verdict.TOO_FEW_SAMPLES,
    Verdict.PREDICTED_COST,
}


class Watched:
    """Starts workers and remembers them."""

    def __init__(self):
        self.pids = []

    async def start(self, threads=1):
        child = await start_worker(threads)
        self.pids.append(child.pid)
        return child

    def cpu_s(self):
        times = psutil.Process(self.pids[-1]).cpu_times()
        return times.user + times.system

    def resident_mib(self):
        return (machine.resident_bytes(self.pids[-1]) or 0) / 2**20


def calm(report: BenchReport) -> bool:
    return all(result.verdict is Verdict.OK for result in report.results)


def medians(report: BenchReport) -> dict[str, float]:
    return {
        f"{r.run.case.name} {r.run.variant}": r.summary.median_s
        for r in report.results
        if r.summary is not None
    }


def nobody(text: str) -> None:
    """Tell nobody."""
    del text


def heading(text: str) -> None:
    load = ", ".join(f"{minute:.2f}" for minute in os.getloadavg())
    print(f"\n## {text}\n\nLoad average before: {load}.\n", flush=True)


async def light() -> None:
    """Five undisturbed runs with a warm worker: what they cost, and how far they wander."""
    heading("The light suite, idle, warm worker")
    watched, refused, good, costs = Watched(), 0, [], []
    runner = BenchRunner(start=watched.start, announce=nobody)
    end_s = time.monotonic() + PATIENCE_S
    await runner.run(LIGHT)
    while len(good) < 5 and time.monotonic() < end_s:
        cpu_s = watched.cpu_s()
        report = await runner.run(LIGHT)
        costs.append((watched.cpu_s() - cpu_s, report.seconds))
        if calm(report):
            good.append(report)
        else:
            refused += 1
            await asyncio.sleep(2)
    print(
        f"{len(good)} undisturbed runs, {refused} refused, {len(watched.pids)} worker(s), "
        f"{watched.resident_mib():.0f} MiB resident."
    )
    cpu, wall = zip(*costs, strict=True)
    print(
        f"Cost of a run over all {len(costs)}: CPU {statistics.median(cpu):.2f} s (most {max(cpu):.2f}), "
        f"wall {statistics.median(wall):.2f} s (most {max(wall):.2f}).\n"
    )
    print("| run | medians of the undisturbed runs, ms | (most - least) / median |\n|---|---|---|")
    for name in medians(good[0]) if good else ():
        values = [medians(report)[name] for report in good]
        spread = (max(values) - min(values)) / statistics.median(values)
        print(f"| {name} | {', '.join(f'{value * 1e3:.2f}' for value in values)} | {spread:.1%} |")
    await runner.aclose()


async def load() -> None:
    """The same with one core taken by somebody else."""
    heading("The light suite, one core loaded by somebody else")
    burn = await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass")
    runner = BenchRunner(announce=nobody)
    try:
        reports = [await runner.run(LIGHT) for _ in range(5)]
    finally:
        burn.kill()
        await burn.wait()
        await runner.aclose()
    results = [result for report in reports for result in report.results]
    by_verdict = {v.value: n for v in Verdict if (n := sum(r.verdict is v for r in results))}
    print(
        f"{len(results)} results in {len(reports)} runs: {by_verdict}; "
        f"with a reported time: {sum(r.summary is not None for r in results)}."
    )


async def prefill() -> None:
    """Every variant at (1, 2048, 1024) under the ceilings of the same run."""
    heading("Prefill (1, 2048, 1024) in float32, one thread")
    variants = (Variant.NAIVE, Variant.FUSED_QKV, Variant.SDPA, Variant.SDPA_MATH, Variant.NN_MHA)
    case = replace(cases.prefill(2048, variants, budget_s=90.0), warmup=1, repeats=7, deadline_s=120.0)
    ceilings = (cases.matmul(1024, budget_s=5.0), cases.copy(256, budget_s=5.0))
    suite = Suite(name="once", about="", on_cpu=(*ceilings, case), on_accelerator=(), deadline_s=200.0)
    end_s, tries, results = time.monotonic() + PATIENCE_S, 0, []
    while time.monotonic() < end_s:
        tries += 1
        results = await alone(suite)
        if all(r.verdict is Verdict.OK for r in results):
            break
        await asyncio.sleep(5)
    print(f"Try {tries}.\n\n| variant | ms | spread | of the ceilings | against naive | backend | verdict |")
    print("|---|---|---|---|---|---|---|")
    ceiling = ceilings_of("cpu", results, [])
    naive = next((r.summary.median_s for r in results if r.run.variant is Variant.NAIVE and r.summary), None)
    for result in results:
        row(placed(result, ceiling, None), naive)


def row(result: KernelResult, naive: float | None) -> None:
    name, summary = f"{result.run.case.name} {result.run.variant}", result.summary
    backend = result.measurement.backend.value if result.measurement else "-"
    if summary is None:
        print(f"| {name} | - | - | - | - | {backend} | {result.verdict}: {result.detail} |")
        return
    place = result.placement.roofline_ratio
    print(
        f"| {name} | {summary.median_s * 1e3:.2f} | {summary.spread_ratio:.1%} "
        f"| {'-' if place is None else f'{place:.0%}'} "
        f"| {'-' if naive is None or place is None else f'{naive / summary.median_s:.2f}x'} "
        f"| {backend} | ok |"
    )


async def alone(suite: Suite) -> list[KernelResult]:
    watched = Watched()
    async with Session(watched.start) as session:
        measuring = Measuring(
            session,
            suite,
            until_s=time.monotonic() + suite.deadline_s,
            peaks={},
            meter=None,
            progress=nobody,
        )
        return await measuring.device("cpu")


async def wander() -> None:
    """Three ways to give one number, nine times."""
    heading("How far one number wanders over nine repeats, article's case, sdpa, one thread")
    print(
        "| way | nine values, ms | refused | coefficient of variation | (most - least) / median |\n"
        "|---|---|---|---|---|",
        flush=True,
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = (sys.executable, "-m", "benchmarks.kernel_wander")
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    if await process.wait():
        raise SystemExit("the comparison failed")


async def cycles() -> None:
    """A thousand cycles of the light suite's cases with two repeats each: does the worker grow?"""
    heading("Light cycles: resident memory of the warm worker")
    light_suite = SUITES["light"]
    quick = tuple(replace(case, warmup=1, repeats=2) for case in light_suite.on_cpu)
    suite = replace(light_suite, on_cpu=quick, deadline_s=3600.0)
    watched, sizes, end_s = Watched(), [], time.monotonic() + CYCLES_S
    async with Session(watched.start) as session:
        for cycle in range(CYCLES):
            measuring = Measuring(
                session,
                suite,
                until_s=time.monotonic() + 60,
                peaks={},
                meter=None,
                progress=nobody,
            )
            results = await measuring.device("cpu")
            assert {r.verdict for r in results} <= DISTURBED, results
            sizes.append((cycle, watched.resident_mib()))
            if time.monotonic() > end_s:
                break
    later = sizes[len(sizes) // 10 :]
    slope = statistics.linear_regression(*zip(*later, strict=True)).slope
    marks = ", ".join(f"{sizes[i][1]:.1f}" for i in (0, *range(99, len(sizes), 100)))
    print(f"{len(sizes)} cycles. MiB after cycle 1, 100, 200, ...: {marks}.")
    print(
        f"Slope from cycle {later[0][0]} on: {slope * 1024:+.2f} KiB a cycle; {len(watched.pids)} worker(s)."
    )


SECTIONS = {"light": light, "load": load, "prefill": prefill, "wander": wander, "cycles": cycles}

if __name__ == "__main__":
    for section in sys.argv[1:] or SECTIONS:
        asyncio.run(SECTIONS[section]())
