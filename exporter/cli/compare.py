"""``compare``: two load runs side by side."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from exporter.load.compare import Comparison, Difference
    from exporter.model.load_result import LoadRun

OK, REFUSED = 0, 2
_SEED = 20260101


@click.command()
@click.argument("files", metavar="A.json [B.json]", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--even-if-different", is_flag=True, help="Compare although fixed parameters differ.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (inference-exporter/compare/1).")
def compare(files: tuple[Path, ...], even_if_different: bool, as_json: bool) -> None:
    """Compare two run files, or the two sides of one interleaved run (`load --a X --b Y`).

    Intervals are 95 % bootstrap intervals of the relative difference, each standing for itself.  Runs whose
    fixed parameters differ (model, prompts, lengths, temperature, mode ...) are refused unless told.
    """
    import numpy as np

    from exporter.load.compare import compare as compared
    from exporter.load.compare import fixed_differences

    a, b = _runs(files)
    differing = fixed_differences(a, b)
    if differing and not even_if_different:
        for line in differing:
            click.echo(line, err=True)
        click.echo("fixed parameters differ, so not compared; --even-if-different does it anyway", err=True)
        sys.exit(REFUSED)
    found = compared(a, b, np.random.default_rng(_SEED))
    if as_json:
        click.echo(json.dumps(_json(a, b, found, differing), indent=1, allow_nan=False))
    else:
        _print(a, b, found, differing)


def _runs(files: tuple[Path, ...]) -> "tuple[LoadRun, LoadRun]":
    from exporter.load.compare import sides
    from exporter.load.runfile import RunFileError, read_run

    try:
        runs = [read_run(path) for path in files]
    except RunFileError as error:
        raise click.ClickException(str(error)) from None
    if len(runs) == 1 and (both := sides(runs[0])) is not None:
        return both
    if len(runs) != 2:
        raise click.UsageError("give two run files, or one of `load --a TARGET --b TARGET`")
    return runs[0], runs[1]


def _print(a: "LoadRun", b: "LoadRun", found: "Comparison", differing: tuple[str, ...]) -> None:
    from rich.table import Table

    from exporter.cli.load_view import wide_console

    console = wide_console()
    for name, run in (("a", a), ("b", b)):
        console.print(
            f"{name}: {run.served.target} ({run.served.base_url}), {run.plan.scenario}", markup=False
        )
    for line in differing:
        console.print(f"differs: {line}", markup=False)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for index, head in enumerate(("load", "figure", "a", "b", "difference (95 %)", "n", "b is")):
        table.add_column(head, justify="left" if index in {0, 1, 6} else "right", no_wrap=True)
    for difference in found.differences:
        table.add_row(*_row(difference))
    if found.differences:
        console.print(table)
    else:
        console.print("no load level of these two runs can be compared:")
    for line in found.left_out:
        console.print(f"not compared: load {line}", markup=False)


def _row(found: "Difference") -> tuple[str, ...]:
    from exporter.report.words import milliseconds, significant

    in_seconds = " p" in found.figure
    a, b = ((milliseconds(v) + " ms") if in_seconds else significant(v) for v in (found.a, found.b))
    interval = "-"
    if found.low is not None and found.high is not None:
        interval = f"{found.low:+.1%} to {found.high:+.1%}"
    return (f"{found.level:g}", found.figure, a, b, interval, f"{found.n_a}/{found.n_b}", found.verdict)


def _json(a: "LoadRun", b: "LoadRun", found: "Comparison", differing: tuple[str, ...]) -> dict[str, object]:
    from dataclasses import asdict

    from exporter.load.runfile import finite

    return {
        "schema": "inference-exporter/compare/1",
        "a": asdict(a.served),
        "b": asdict(b.served),
        "differing": list(differing),
        "differences": [
            {name: finite(value) if isinstance(value, float) else value for name, value in asdict(d).items()}
            for d in found.differences
        ],
        "not_compared": list(found.left_out),
    }
