"""Runs as one page of HTML: everything inline, nothing fetched, no script, readable in print."""

from collections.abc import Sequence
from html import escape

from exporter.model.load_result import LoadRun
from exporter.report.markdown import READING
from exporter.report.plots import plots
from exporter.report.svg import svg
from exporter.report.tables import Table, findings, summary, tables

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff; --faint: #d9d9d9; --soft: #555555; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #161616; --faint: #3a3a3a; --soft: #a8a8a8; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0 0 1.5rem; }
.wide { overflow-x: auto; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--faint); text-align: right; }
th, td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .t { font-weight: 600; }
svg .e { text-anchor: end; } svg .m { text-anchor: middle; }
svg .g { stroke: var(--faint); } svg .k { stroke: var(--ink); stroke-dasharray: 3 3; }
p.soft { color: var(--soft); }
@media print {
  :root { --ink: #000; --paper: #fff; --faint: #bbb; --soft: #333; }
  body { margin: 0; max-width: none; font-size: 10pt; } section, figure, table { break-inside: avoid; }
}
"""


def html(runs: Sequence[LoadRun]) -> str:
    """Return the page."""
    body = "\n".join(map(_section, runs))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Load tests</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Load tests</h1>\n"
        f'<p class="soft">{escape(READING.replace("`", ""))}</p>\n{body}\n</body>\n</html>\n'
    )


def _section(run: LoadRun) -> str:
    said = "".join(f"<li>{escape(line)}</li>" for line in findings(run))
    about = "<br>".join(escape(line) for line in summary(run))
    figures = "".join(f"<figure>{svg(plot)}</figure>" for plot in plots(run))
    return "\n".join(
        [
            f"<section><h2>{escape(run.served.target)}: {escape(run.plan.scenario)}</h2>",
            f'<p class="soft">{about}</p>',
            f"<ul>{said}</ul>" if said else "",
            f'<div class="plots">{figures}</div>' if figures else "",
            *map(_table, tables(run)),
            "</section>",
        ]
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.heads)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return (
        f'<h3>{escape(table.title)}</h3>\n<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
