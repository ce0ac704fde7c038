"""A dashboard: panels on the grid, variables, links between boards, annotations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exporter.metrics.catalogue.load import IN_FLIGHT
from exporter.metrics.catalogue.server import MODEL_CHANGES
from exporter.metrics.catalogue.service import RELOAD_TIMESTAMP
from grafana.panel import SOURCE, Json

COLUMNS = 24
TAG = "inference"
SCHEMA = 41
"""Of Grafana 11.6.  Later versions read it and go over to their own."""
FIRST_ROW_ID = 1001
RUNBOOKS = "docs/runbooks.md"
"""Where the runbooks are; `--runbooks` of the generator takes the address as your team reads it."""


@dataclass(frozen=True, slots=True)
class Line:
    """Panels side by side, and how many of the 24 columns each takes."""

    height: int
    panels: tuple[Json, ...]
    widths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Lines under a heading that folds them."""

    title: str
    lines: tuple[Line, ...]


def line(height: int, *panels: Json, widths: tuple[int, ...] = ()) -> Line:
    """Return panels side by side, of the same width unless told.

    Raises ValueError where they do not fill the width of the board.
    """
    widths = widths or (COLUMNS // len(panels),) * len(panels)
    if sum(widths) != COLUMNS or len(widths) != len(panels):
        raise ValueError(f"{[panel['title'] for panel in panels]} fill {sum(widths)} of {COLUMNS} columns")
    return Line(height, panels, widths)


def variable(name: str, label: str, query: str, *, many: bool = True) -> Json:
    """Return a variable whose choices a query gives; with ``many`` all are chosen at first."""
    everything = {"text": "All", "value": "$__all"} if many else {}
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": f"variable-{name}"},
        "refresh": 2,
        "sort": 1,
        "multi": many,
        "includeAll": many,
        "current": everything,
    }


def choice(name: str, label: str, options: Sequence[str], chosen: str) -> Json:
    """Return a variable with fixed choices."""
    return {
        "name": name,
        "label": label,
        "type": "custom",
        "query": ",".join(options),
        "current": {"text": chosen, "value": chosen},
        "options": [{"text": each, "value": each, "selected": each == chosen} for each in options],
    }


DATA_SOURCE: Json = {
    "name": "datasource",
    "label": "Data source",
    "type": "datasource",
    "query": "prometheus",
}
WINDOW = choice("window", "Quantiles and shares over", ("5m", "15m", "30m", "1h", "6h", "1d"), "1h")


def annotation(name: str, colour: str, expr: str, title: str, text: str) -> Json:
    """Return marks at the times at which an expression has a value."""
    return {
        "name": name,
        "datasource": SOURCE,
        "enable": True,
        "iconColor": colour,
        "expr": expr,
        "titleFormat": title,
        "textFormat": text,
    }


ALERTS = annotation(
    "Alerts",
    "red",
    'ALERTS{alertname=~"Inference.*", alertstate="firing"}',
    "{{alertname}}",
    "{{target}} {{probe}} {{sli}} {{device}}",
)
RELOADS = annotation(
    "Reloads", "blue", f"changes({RELOAD_TIMESTAMP.name}[1m]) > 0", "Configuration reloaded", "{{instance}}"
)


LOAD_RUNS = annotation(
    "Load tests",
    "purple",
    f"max by (target, scenario) ({IN_FLIGHT.name}) > 0",
    "Load test",
    "{{target}} {{scenario}}",
)


MODELS = annotation(
    "Model changes",
    "orange",
    f"sum by (target, probe) (increase({MODEL_CHANGES.name}[1m])) > 0",
    "The server named another model",
    "{{target}} {{probe}}",
)


def board(
    uid: str,
    title: str,
    description: str,
    variables: Sequence[Json],
    rows: Sequence[Row],
    *,
    since: str = "now-6h",
) -> Json:
    """Return the dashboard; the address of the runbooks is filled in by ``with_runbooks``."""
    return {
        "uid": f"inference-{uid}",
        "title": f"Inference / {title}",
        "description": description,
        "tags": [TAG],
        "schemaVersion": SCHEMA,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": since, "to": "now"},
        "timezone": "",
        "templating": {"list": [DATA_SOURCE, *variables]},
        "annotations": {"list": [ALERTS, RELOADS, LOAD_RUNS, MODELS]},
        "links": _links(),
        "panels": _placed(rows),
    }


def with_runbooks(dashboard: Json, address: str) -> Json:
    """Return the dashboard with its link to the runbooks."""
    links = [link | {"url": address} if link["title"] == "Runbooks" else link for link in dashboard["links"]]
    return dashboard | {"links": links}


def _links() -> list[Json]:
    common: dict[str, Any] = {"targetBlank": False, "tooltip": "", "icon": "dashboard"}
    boards = common | {
        "type": "dashboards",
        "title": "Boards",
        "tags": [TAG],
        "asDropdown": False,
        "keepTime": True,
        "includeVars": True,
        "url": "",
    }
    runbooks = common | {
        "type": "link",
        "title": "Runbooks",
        "tags": [],
        "asDropdown": False,
        "keepTime": False,
        "includeVars": False,
        "url": RUNBOOKS,
        "icon": "doc",
        "targetBlank": True,
    }
    return [boards, runbooks]


def _placed(rows: Sequence[Row]) -> list[Json]:
    placed: list[Json] = []
    y = 0
    for number, row in enumerate(rows):
        place = {"x": 0, "y": y, "w": COLUMNS, "h": 1}
        heading: Json = {"id": FIRST_ROW_ID + number, "type": "row", "title": row.title, "gridPos": place}
        placed.append(heading | {"collapsed": False, "panels": []})
        y += 1
        for each in row.lines:
            x = 0
            for columns, panel in zip(each.widths, each.panels, strict=True):
                placed.append(panel | {"gridPos": {"x": x, "y": y, "w": columns, "h": each.height}})
                x += columns
            y += each.height
    return placed
