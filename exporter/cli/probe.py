"""``inference-exporter probe``: probes of one target now, with a waterfall of their clocks or as JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from exporter.cli.options import config_option, configured_target

if TYPE_CHECKING:
    from rich.console import RenderableType

    from exporter.model.configuration import TargetPlan
    from exporter.model.results import ProbeResult
    from exporter.model.target import ProbeSpec

_WIDTH = 40


@click.command()
@config_option
@click.argument("target", metavar="[TARGET]", required=False)
@click.argument("probe_name", metavar="[PROBE]", required=False)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (inference-exporter/probe/1) instead of a waterfall."
)
def probe(path: Path | None, target: str | None, probe_name: str | None, *, as_json: bool) -> None:
    """Run probes of a target now, each once, and print their clocks and verdicts.

    Without PROBE every probe of the target runs, one after the other; TARGET can be left out where there is
    only one. What is measured here goes into no metric and no budget.

    Exit status: 0 every probe ended well; 1 one did not, or the configuration cannot be used.
    """
    import json

    from exporter.app.once import probe_now
    from exporter.model.outcome import Outcome

    plan = configured_target(path, target)
    results = probe_now(plan.target, _chosen(plan, probe_name))
    if as_json:
        from exporter.model.result_json import result_json

        document = {"schema": "inference-exporter/probe/1", "results": [result_json(r) for r in results]}
        click.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        for result in results:
            _print(result)
    raise SystemExit(0 if all(result.outcome is Outcome.OK for result in results) else 1)


def _chosen(plan: "TargetPlan", name: str | None) -> "tuple[ProbeSpec, ...]":
    if name is None:
        return plan.probes
    found = tuple(spec for spec in plan.probes if spec.name == name)
    if not found:
        names = ", ".join(spec.name for spec in plan.probes)
        raise click.UsageError(f"target {plan.target.name} has no probe {name!r}; it has: {names}")
    return found


def _print(result: "ProbeResult") -> None:
    from rich.console import Console
    from rich.text import Text

    from exporter.model.outcome import Outcome
    from exporter.model.remedy import REMEDIES
    from exporter.model.result_text import facts

    console = Console(highlight=False, soft_wrap=True)
    is_ok = result.outcome is Outcome.OK
    head = Text(f"{result.target.name}/{result.spec.name} ({result.spec.kind}) ")
    head.append(str(result.outcome), style="bold green" if is_ok else "bold red")
    console.print(head.append(f": {result.detail}" if result.detail else ""))
    if result.phases is not None:
        console.print(_waterfall(result, result.phases.total_s))
    for name, text in facts(result):
        console.print(f"{name}: {text}", markup=False)
    remedy = REMEDIES.get(result.outcome)
    if remedy is not None:
        console.print(f"Usual cause: {remedy.cause}", markup=False, style="yellow")
        for step in remedy.steps:
            console.print(f"- {step}", markup=False)
    console.print()


def _waterfall(result: "ProbeResult", total_s: float) -> "RenderableType":
    from rich.table import Table
    from rich.text import Text

    from exporter.model.waterfall import bars, drawn, milliseconds

    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for bar in bars(result):
        is_clock = bar.name in {"ttft", "ttfc", "e2e"}
        line = Text(drawn(bar, total_s, _WIDTH), style="green" if is_clock else "cyan")
        table.add_row(bar.name, line, milliseconds(bar.length_s))
    table.add_row("total", "", milliseconds(total_s))
    return table
