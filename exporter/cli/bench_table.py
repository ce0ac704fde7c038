"""A bench report on a terminal of eighty columns."""

from itertools import groupby
from typing import TYPE_CHECKING

from exporter.model.kernel import Verdict
from exporter.model.work import flops

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from exporter.model.kernel_report import BenchReport, KernelResult


def print_report(report: "BenchReport", console: "Console") -> None:
    """Print a table a case and device, then whatever a table cannot say."""
    console.print(f"suite {report.suite}, {report.seconds:.1f} s; medians of the repeats", markup=False)
    for _, group in groupby(report.results, key=lambda r: (r.run.device, r.run.case)):
        results = list(group)
        console.print(_heading(results[0]), markup=False, style="bold")
        console.print(_table(results))
    for result in report.results:
        if result.verdict is not Verdict.OK:
            console.print(
                f"{'/'.join(result.run.labels)}: {result.verdict.value}: {result.detail}", markup=False
            )
    for device in report.absent:
        console.print(f"{device}: not there, nothing measured on it", markup=False)
    for ceilings in report.ceilings:
        rates = [f"{dtype} {compact(rate)}FLOP/s" for dtype, rate in ceilings.flops_per_second.items()]
        if ceilings.bytes_per_second is not None:
            rates.append(f"copy {compact(ceilings.bytes_per_second)}B/s")
        if rates:
            console.print(f"ceilings of {ceilings.device}: {', '.join(rates)}", markup=False)
    if report.environment is not None:
        found = report.environment
        about = ", ".join(f"{d.device} = {d.name}" for d in found.devices)
        console.print(f"torch {found.torch_version}, {found.threads} thread(s); {about}", markup=False)
    elif not report.results:
        console.print(report.detail, markup=False)


def _heading(result: "KernelResult") -> str:
    case, placed = result.run.case, result.placement
    words = [case.name, result.run.device, case.dtype.value]
    if flops(case.work):
        words.append(f"{compact(flops(case.work))}FLOP")
    if placed is not None:
        words.append(f"{placed.intensity:.3g} FLOP/B")
        words += [f"{placed.bound} bound"] if placed.bound else []
    return "\n" + ", ".join(words)


def _table(results: list["KernelResult"]) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    # Eighty columns hold all of them with the longest values there are.
    table.add_column("variant", no_wrap=True, min_width=14)
    for column in ("ms", "spread", "tok/s", "roof", "MFU"):
        table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
    table.add_column("backend", no_wrap=True)
    table.add_column("valid", no_wrap=True)
    for result in results:
        table.add_row(*_row(result))
    return table


def _row(result: "KernelResult") -> tuple[str, ...]:
    seen, summary, placed = result.measurement, result.summary, result.placement
    backend = seen.backend.value if seen else "-"
    valid = "yes" if result.verdict is Verdict.OK else result.verdict.value
    if summary is None:
        return (result.run.variant.value, *("-",) * 5, backend, valid)
    return (
        result.run.variant.value,
        milliseconds(summary.median_s),
        f"{summary.spread_ratio:.1%}",
        "-" if result.tokens_per_second is None else compact(result.tokens_per_second),
        "-" if placed is None or placed.roofline_ratio is None else f"{placed.roofline_ratio:.0%}",
        "-" if placed is None or placed.mfu is None else f"{placed.mfu:.0%}",
        backend,
        valid,
    )


def milliseconds(value_s: float) -> str:
    """Return seconds as milliseconds in at most seven characters."""
    digits = 4 if value_s < 1e-3 else 2 if value_s < 1 else 0
    return f"{value_s * 1e3:.{digits}f}"


def compact(value: float) -> str:
    """Return a rate with a letter for its magnitude: 28.1k."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.1f}{letter}"
    return f"{value:.1f}"
