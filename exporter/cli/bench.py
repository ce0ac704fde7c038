"""``inference-exporter bench``: kernel benches once, as a table or as JSON."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exporter.model.device import is_device

if TYPE_CHECKING:
    from exporter.model.configuration import BenchPlan
    from exporter.model.kernel_report import BenchReport

OK, FAILED, NOTHING_MEASURED, INTERRUPTED = 0, 1, 3, 130


def _known_suite(ctx: click.Context, param: click.Parameter, value: str) -> str:
    from exporter.kernels.suite import SUITES

    if value not in SUITES:
        raise click.BadParameter(f"there is no suite {value!r}; there are: {', '.join(SUITES)}", ctx, param)
    return value


def _well_formed(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for device in value:
        if not is_device(device):
            raise click.BadParameter(f"{device!r} is no device; write cpu or cuda:0", ctx, param)
    return value


@click.command()
@click.option(
    "--suite",
    callback=_known_suite,
    metavar="NAME",
    default="light",
    show_default=True,
    help="light (seconds), once (a minute), hourly or nightly (up to 15 minutes).",
)
@click.option(
    "--device",
    "devices",
    callback=_well_formed,
    metavar="NAME",
    multiple=True,
    help="cpu, mps, cuda:N or xpu:N, repeatable; default: every device.",
)
@click.option(
    "--threads", type=click.IntRange(1, 1024), default=1, show_default=True, help="Of one CPU operation."
)
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of earlier times to compare with and add to.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (inference-exporter/bench/2) instead of a table."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write the JSON here too."
)
def bench(
    *,
    suite: str,
    devices: tuple[str, ...],
    threads: int,
    state: Path | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Run the multi-head-attention kernel benches once, in a process of their own.

    Every result is checked against float64 before it is timed.  CPU times are process CPU time on one
    thread (wall time on more), GPU times are device events; the spread is the distance between the quartiles.
    A time that something disturbed is refused, and the reason printed.

    Exit status: 0 all measured; 1 a run failed, was disturbed, or its result was wrong; 3 nothing to
    measure (no torch, or no such device); 130 interrupted.
    """
    import asyncio
    import json

    from exporter.kernels.runfile import run_file
    from exporter.model.configuration import BenchPlan

    plan = BenchPlan(
        suite=suite,
        every_s=0.0,
        devices=tuple(dict.fromkeys(devices)),
        threads=threads,
        state=None if state is None else str(state),
    )
    try:
        report = asyncio.run(_measure(plan))
    except KeyboardInterrupt:
        click.echo("interrupted; the worker is gone, nothing was written", err=True)
        sys.exit(INTERRUPTED)
    text = json.dumps(run_file(report), indent=2, allow_nan=False)
    if out is not None:
        _write(out, text)
    if as_json:
        click.echo(text)
    else:
        from rich.console import Console

        from exporter.cli.bench_table import print_report

        print_report(report, Console(soft_wrap=True, highlight=False))
    sys.exit(exit_code(report))


async def _measure(plan: "BenchPlan") -> "BenchReport":
    """Run the plan; what is being measured is told on a terminal's last line."""
    from rich.console import Console

    from exporter.kernels.runner import BenchRunner

    terminal = Console(stderr=True)
    with terminal.status("starting the worker") as status:
        runner = BenchRunner(announce=_ignore, progress=status.update)
        try:
            return await runner.run(plan)
        finally:
            await runner.aclose()


def _ignore(line: str) -> None:
    """Drop what a service would log: the table and the JSON say it."""
    del line


def exit_code(report: "BenchReport") -> int:
    """Return the exit status that a report deserves."""
    from exporter.model.kernel import Verdict

    absent = {Verdict.BACKEND_UNAVAILABLE, Verdict.PREDICTED_COST}
    if any(result.summary is None and result.verdict not in absent for result in report.results):
        return FAILED
    return OK if any(result.summary for result in report.results) else NOTHING_MEASURED


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(out), f"{error.strerror}; choose another path with --out") from error
