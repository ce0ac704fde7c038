"""Gate, backend map, ceilings, light and a cut of nightly on one device, with energy, as one Markdown table.

Standard library only, apart from torch in the worker: it is started by ``gpu_check.sh`` on machines where
nothing is installed.
"""

import asyncio
import os
import platform
import sys
import time
from datetime import UTC, datetime

from benchmarks.energy_counter import EnergyCounter
from exporter import __version__
from exporter.kernels import cases, runner
from exporter.kernels.suite import SUITES, Suite
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import Dtype, KernelCase, Variant
from exporter.model.kernel_report import BenchReport, KernelResult

DEADLINE_S = 240.0
_BF16, _F32 = Dtype.BFLOAT16, Dtype.FLOAT32
_FORCED = (Variant.NAIVE, Variant.SDPA, *cases.FORCED)


def _cut(dtypes: tuple[Dtype, ...]) -> tuple[KernelCase, ...]:
    """Return the most telling cases of the nightly suite in some number formats."""
    return tuple(
        case
        for dtype in dtypes
        for case in (
            cases.prefill(2048, cases.ALL_PREFILL, dtype=dtype, budget_s=15.0),
            cases.prefill(2048, _FORCED, dtype=dtype, causal=True, budget_s=10.0),
            cases.decode(8, 2, dtype=dtype, budget_s=5.0),
            cases.decode(8, 8, dtype=dtype, budget_s=5.0),
            cases.decode(8, 2, cases.GROUPED, dtype=dtype, kv_heads=4, budget_s=5.0),
            cases.varlen(dtype=dtype, budget_s=5.0),
        )
    )


def _merged(*groups: tuple[KernelCase, ...]) -> tuple[KernelCase, ...]:
    """Return the cases of all groups; of two with the same name and format, the first."""
    found = {(case.name, case.dtype): case for group in reversed(groups) for case in reversed(group)}
    return tuple(found.values())[::-1]


SUITE = Suite(
    name="gpu_check",
    about="",
    on_cpu=_merged(_cut((_F32,)), SUITES["once"].on_cpu, SUITES["light"].on_cpu),
    on_accelerator=_merged(
        _cut((_BF16, _F32)), SUITES["once"].on_accelerator, SUITES["light"].on_accelerator
    ),
    deadline_s=DEADLINE_S,
    ceilings_again=True,
    energy_s=3.0,
)


def row(result: KernelResult) -> str:
    """Return a line of the table."""
    run, seen, summary, placed = result.run, result.measurement, result.summary, result.placement
    backend = "-" if seen is None else seen.backend.value
    head = f"| {run.case.name} | {run.case.dtype.value} | {run.variant.value} | {backend} "
    error = "-" if seen is None or seen.relative_error is None else f"{seen.relative_error:.1e}"
    if summary is None or placed is None:
        return f"{head}| - | - | {error} | - | - | - | - | {result.verdict.value}: {result.detail} |"
    cells = (
        f"{summary.median_s * 1e3:.4f}{' (graph)' if seen and seen.graphed else ''}",
        f"{summary.spread_ratio:.1%}",
        error,
        "-" if placed.roofline_ratio is None else f"{placed.roofline_ratio:.0%}",
        "-" if placed.mfu is None else f"{placed.mfu:.0%}",
        "-" if placed.mbu is None else f"{placed.mbu:.0%}",
        "-" if result.tokens_per_joule is None else f"{result.tokens_per_joule:.1f}",
        "ok",
    )
    return f"{head}| {' | '.join(cells)} |"


def page(report: BenchReport, device: str, counter: EnergyCounter | None) -> str:
    """Return the whole report."""
    found = report.environment
    lines = [f"# Kernel bench on {device}", ""]
    lines.append(
        f"- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, inference-exporter {__version__}, {report.seconds:.0f} s"
    )
    if found is None:
        return "\n".join([*lines, f"- nothing measured: {report.detail}"])
    lines += [
        f"- {known.device}: {known.name}, driver {known.driver or '-'}, {known.runtime or '-'}"
        for known in found.devices
    ]
    load = ", ".join(f"{minute:.2f}" for minute in os.getloadavg())
    lines.append(f"- torch {found.torch_version}, Python {platform.python_version()}, load average {load}")
    for ceilings in report.ceilings:
        rates = [
            f"{dtype.value} {rate / 1e12:.2f} TFLOP/s" for dtype, rate in ceilings.flops_per_second.items()
        ]
        moved = "-" if ceilings.bytes_per_second is None else f"{ceilings.bytes_per_second / 1e9:.0f} GB/s"
        drift = "-" if ceilings.drift_ratio is None else f"{ceilings.drift_ratio:.1%}"
        lines.append(f"- ceilings: {', '.join(rates) or '-'}; copy {moved}; drift from first to last {drift}")
    lines += [f"- peak of {name}: by {peak.source}" for name, peak in report.peaks]
    if counter is None:
        lines.append("- energy: no NVIDIA driver library")
    elif counter.checks:
        pairs = ", ".join(f"{by_counter:.0f} / {polled:.0f} W" for by_counter, polled in counter.checks)
        lines.append(f"- energy counter / mean of polled power: {pairs}")
    lines += [
        "",
        "| case | format | variant | backend | ms | spread | error | roof | MFU | MBU | tokens/J | verdict |",
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|---|")
    return "\n".join([*lines, *map(row, report.results)])


def tell(what: str) -> None:
    print(f"gpu_check {time.strftime('%H:%M:%S')}: {what}", file=sys.stderr)


async def main(device: str) -> int:
    counter = EnergyCounter.of_driver() if device.startswith("cuda:") else None
    runner.SUITES = {SUITE.name: SUITE}
    bench = runner.BenchRunner(announce=tell, progress=tell, meter=counter)
    report = await bench.run(BenchPlan(suite=SUITE.name, every_s=0, devices=(device,)))
    await bench.aclose()
    print(page(report, device, counter))
    if device in report.absent:
        tell(f"{device} is not there: does nvidia-smi show it, and torch.cuda.is_available()?")
    return 0 if any(result.summary for result in report.results) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")))
