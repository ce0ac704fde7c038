"""``inference-exporter bench``: kernel benches once, as a table or as JSON."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from exporter.model.kernel import BenchReport, KernelResult

OK, FAILED, NOTHING_MEASURED, INTERRUPTED = 0, 1, 3, 130
_DEVICE = re.compile(r"cpu|cuda:\d{1,3}")


def _known_suite(ctx: click.Context, param: click.Parameter, value: str) -> str:
    from exporter.kernels.suite import SUITES

    if value not in SUITES:
        raise click.BadParameter(f"there is no suite {value!r}; there are: {', '.join(SUITES)}", ctx, param)
    return value


def _well_formed(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for device in value:
        if not _DEVICE.fullmatch(device):
            raise click.BadParameter(f"{device!r} is no device; write cpu or cuda:0", ctx, param)
    return value


@click.command()
@click.option(
    "--suite",
    callback=_known_suite,
    metavar="NAME",
    default="light",
    show_default=True,
    help="light or once.",
)
@click.option(
    "--device",
    "devices",
    callback=_well_formed,
    metavar="NAME",
    multiple=True,
    help="cpu or cuda:N, repeatable; default: every device.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (inference-exporter/bench/1) instead of a table."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write the JSON here too."
)
def bench(suite: str, devices: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Run the multi-head-attention kernel benches once, in a process of their own.

    Every result is checked against float64 before it is timed.  CPU times are process CPU time on one
    thread, GPU times are device events; the spread is the distance between the quartiles.

    Exit status: 0 all measured; 1 a run failed or its result was wrong; 3 nothing to measure (no torch, or
    no such device); 130 interrupted.
    """
    import asyncio
    import json

    from exporter.kernels.runfile import run_file
    from exporter.kernels.runner import BenchRunner
    from exporter.model.configuration import BenchPlan

    plan = BenchPlan(suite=suite, every_s=0.0, devices=tuple(dict.fromkeys(devices)))
    try:
        report = asyncio.run(BenchRunner(announce=_ignore).run(plan))
    except KeyboardInterrupt:
        click.echo("interrupted; the worker is gone, nothing was written", err=True)
        sys.exit(INTERRUPTED)
    text = json.dumps(run_file(report), indent=2, allow_nan=False)
    if out is not None:
        _write(out, text)
    if as_json:
        click.echo(text)
    else:
        _print_report(report)
    sys.exit(exit_code(report))


def _ignore(line: str) -> None:
    """Drop what a service would log: the table and the JSON say it."""
    del line


def exit_code(report: "BenchReport") -> int:
    """Return the exit status that a report deserves."""
    if any(result.summary is None for result in report.results):
        return FAILED
    return OK if report.results else NOTHING_MEASURED


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(out), f"{error.strerror}; choose another path with --out") from error


def _print_report(report: "BenchReport") -> None:
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    if report.results:
        console.print(_table(report))
    for result in report.results:
        if result.summary is None:
            console.print(
                f"{'/'.join(result.run.labels)}: {result.verdict.value}: {result.detail}", markup=False
            )
    for device in report.absent:
        console.print(f"{device}: not there, nothing measured on it", markup=False)
    if report.environment is not None:
        found = report.environment
        about = ", ".join(f"{d.device} = {d.name}" for d in found.devices)
        console.print(f"torch {found.torch_version}, {found.threads} thread(s); {about}", markup=False)
    elif not report.results:
        console.print(report.detail, markup=False)


def _table(report: "BenchReport") -> "Table":
    from rich.table import Table

    table = Table(
        title=f"suite {report.suite}, median of the repeats",
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    # Eighty columns hold all of them with the longest values there are.
    for column in ("case", "variant", "device"):
        table.add_column(column, no_wrap=True)
    for column in ("ms", "spread", "tokens/s", "FLOP/s"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("backend", no_wrap=True)
    table.add_column("right", no_wrap=True)
    for result in report.results:
        table.add_row(*_row(result))
    return table


def _row(result: "KernelResult") -> tuple[str, ...]:
    what = (result.run.case.name, result.run.variant.value, result.run.device)
    seen, summary = result.measurement, result.summary
    backend, correct = (seen.backend.value, "yes" if seen.correct else "NO") if seen else ("-", "-")
    if summary is None or result.tokens_per_second is None or result.flops_per_second is None:
        return (*what, "-", "-", "-", "-", backend, correct)
    spread = (summary.q3_s - summary.q1_s) / summary.median_s
    return (
        *what,
        _milliseconds(summary.median_s),
        f"{spread:.1%}",
        _compact(result.tokens_per_second),
        _compact(result.flops_per_second),
        backend,
        correct,
    )


def _milliseconds(value_s: float) -> str:
    digits = 4 if value_s < 1e-3 else 2 if value_s < 1 else 0
    return f"{value_s * 1e3:.{digits}f}"


def _compact(value: float) -> str:
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:.1f}{letter}"
    return f"{value:.1f}"
