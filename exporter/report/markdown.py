"""Runs as Markdown."""

from collections.abc import Sequence

from exporter.model.load_result import LoadRun
from exporter.report.tables import Table, findings, summary, tables

READING = (
    "Percentiles count each failed request as infinitely late; in brackets, where it differs, of successful "
    "requests alone. `client` stands where the client, not the server, was the limit. A P99 of fewer than "
    "100 requests is their maximum."
)


def markdown(runs: Sequence[LoadRun]) -> str:
    """Return one section a run, ending in a newline."""
    return "\n\n".join(["# Load tests", READING, *map(_section, runs)]) + "\n"


def _section(run: LoadRun) -> str:
    said = [f"- {line}" for line in findings(run)]
    parts = [f"## {run.served.target}: {run.plan.scenario}", "  \n".join(summary(run))]
    if said:
        parts.append("\n".join(said))
    return "\n\n".join([*parts, *map(_table, tables(run))])


def _table(table: Table) -> str:
    ruler = [":---", *["---:"] * (len(table.heads) - 1)]
    rows = [table.heads, ruler, *table.rows]
    return "\n".join([f"### {table.title}", "", *("| " + " | ".join(row) + " |" for row in rows)])
