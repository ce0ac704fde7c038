"""The live view of a load test, and its tables on a terminal."""

from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live as Screen
from rich.table import Table as RichTable
from rich.text import Text

from exporter.load.order import Live
from exporter.model.load_figures import level_name
from exporter.model.load_plan import LoadPlan
from exporter.model.load_result import LoadRun
from exporter.report.tables import Table, findings, summary, tables
from exporter.report.words import milliseconds

_WIDE = 160


def wide_console() -> Console:
    """Return a console for tables; one that is no terminal is as wide as they are."""
    found = Console(highlight=False)
    return found if found.is_terminal else Console(highlight=False, width=_WIDE)


class View:
    """Shows a run under way on standard error, where that is a terminal."""

    def __init__(self, plan: LoadPlan, console: Console) -> None:
        self._plan = plan
        self._screen = Screen(console=console, transient=True, auto_refresh=False)
        self._is_on = console.is_terminal

    def __enter__(self) -> Self:
        if self._is_on:
            self._screen.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._is_on:
            self._screen.stop()

    def show(self, live: Live) -> None:
        """Show where the run is."""
        if self._is_on:
            self._screen.update(picture(self._plan, live), refresh=True)


def picture(plan: LoadPlan, live: Live) -> RenderableType:
    """Return one picture of a run under way."""
    ended = sum(part.ended for part in live.parts)
    failed = sum(part.failed for part in live.parts)
    rate = ended / live.elapsed_s if live.elapsed_s > 0 else 0.0
    steps = "?" if live.steps is None else str(live.steps)
    grid = RichTable.grid(padding=(0, 2))
    for name, value in (
        ("step", f"{live.step + 1} of {steps}: {level_name(plan, live.level)}"),
        ("requests", f"{ended} ended, {failed} failed, {live.in_flight} in flight, {rate:.1f}/s"),
        ("TTFT", _worst(live, "ttft")),
        ("E2E", _worst(live, "e2e")),
        ("left", f"{live.seconds_left:.0f} s, {live.requests_left:,} requests, {live.tokens_left:,} tokens"),
    ):
        grid.add_row(Text(name, style="bold"), Text(value))
    return Group(grid, Text("Ctrl-C ends the run and keeps what was measured", style="dim"))


def _worst(live: Live, clock: str) -> str:
    """Return a clock's percentiles, of the slowest worker where there are several."""
    found = []
    for percentile in ("p50", "p99"):
        values = [getattr(part, f"{clock}_{percentile}_s") for part in live.parts]
        known = [value for value in values if value is not None]
        found.append(f"{percentile} {milliseconds(max(known)) if known else '-'} ms")
    return ", ".join(found)


def print_run(run: LoadRun, console: Console) -> None:
    """Print a run's tables and what they say."""
    for line in summary(run):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for table in tables(run):
        console.print(_rich(table))
    for line in findings(run):
        console.print(f"- {line}", markup=False, highlight=False, soft_wrap=True)


def _rich(table: Table) -> RichTable:
    rich = RichTable(title=table.title, title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for index, head in enumerate(table.heads):
        rich.add_column(head, justify="left" if index == 0 else "right", no_wrap=True)
    for row in table.rows:
        rich.add_row(*row)
    return rich
