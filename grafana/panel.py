"""Panels as Grafana reads them, with the choices that all boards share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

SOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
GREEN, ORANGE, RED, BLUE, GREY = "green", "orange", "red", "blue", "text"
GOOD_ABOVE_ZERO = ((None, RED), (0.0, ORANGE), (0.25, GREEN))
"""Steps for a budget that is left: overdrawn, nearly used up, fine."""

Steps = Sequence[tuple[float | None, str]]


@dataclass(frozen=True, slots=True)
class Query:
    """One query; ``legend`` names its series, and with ``table`` it is asked for this moment only."""

    expr: str
    legend: str = ""
    table: bool = False
    heatmap: bool = False


def column(expr: str) -> Query:
    """Return a query for a column of a table."""
    return Query(expr, table=True)


def field(unit: str, steps: Steps = ((None, GREEN),), **more: Any) -> Json:
    """Return the defaults of a panel's fields.  The first step has no value: there the colours begin."""
    colours = [{"color": colour, "value": value} for value, colour in steps]
    return {"unit": unit, "thresholds": {"mode": "absolute", "steps": colours}, **more}


def override(name: str, *properties: tuple[str, Any], regexp: bool = False) -> Json:
    """Return settings for the field of that name (or of the names that the expression matches)."""
    matcher = {"id": "byRegexp" if regexp else "byName", "options": name}
    return {"matcher": matcher, "properties": [{"id": key, "value": value} for key, value in properties]}


def hue(name: str, colour: str) -> Json:
    """Return a fixed colour for the series whose names match the expression."""
    return override(name, ("color", {"mode": "fixed", "fixedColor": colour}), regexp=True)


PROMISE = override(
    "/^(promised|cap) /",
    ("color", {"mode": "fixed", "fixedColor": RED}),
    ("custom.lineStyle", {"fill": "dash", "dash": [10, 10]}),
    ("custom.lineWidth", 1),
    ("custom.fillOpacity", 0),
    ("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}),
    ("custom.stacking", {"mode": "none", "group": "B"}),
    regexp=True,
)
"""The dashed line of a promise or a cap, in every panel alike: its legend begins with the word."""


def timeseries(
    number: int,
    title: str,
    description: str,
    *queries: Query,
    unit: str,
    stacked: bool = False,
    bars: bool = False,
    low: float | None = 0,
    high: float | None = None,
    logarithmic: bool = False,
    calcs: Sequence[str] = (),
    overrides: Sequence[Json] = (),
    decimals: int | None = None,
) -> Json:
    """Return lines over time (or bars); with ``calcs`` the legend is a table of them."""
    custom: Json = {
        "drawStyle": "bars" if bars else "line",
        "fillOpacity": 60 if bars else 25 if stacked else 0,
        "lineWidth": 0 if bars else 2,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    if logarithmic:
        custom["scaleDistribution"] = {"type": "log", "log": 10}
    defaults = field(unit, color={"mode": "palette-classic"}, custom=custom)
    limits = {"min": low, "max": high, "decimals": decimals}
    defaults |= {key: value for key, value in limits.items() if value is not None}
    legend = {"displayMode": "table" if calcs else "list", "placement": "bottom", "showLegend": True}
    options = {"legend": legend | {"calcs": list(calcs)}, "tooltip": {"mode": "multi", "sort": "desc"}}
    return _panel(number, "timeseries", title, description, queries, defaults, options, overrides)


def stat(
    number: int,
    title: str,
    description: str,
    *queries: Query,
    unit: str,
    steps: Steps = ((None, BLUE),),
    decimals: int | None = None,
    filled: bool = False,
    spark: bool = False,
    mappings: Sequence[Json] = (),
    nothing: str = "-",
    text: str = "auto",
) -> Json:
    """Return big numbers; ``nothing`` stands where there is no value."""
    defaults = field(unit, steps, noValue=nothing, mappings=list(mappings))
    if decimals is not None:
        defaults["decimals"] = decimals
    options = {
        "colorMode": "background" if filled else "value",
        "graphMode": "area" if spark else "none",
        "textMode": text,
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    return _panel(number, "stat", title, description, queries, defaults, options)


def bars(
    number: int,
    title: str,
    description: str,
    *queries: Query,
    unit: str,
    steps: Steps = ((None, BLUE),),
    **more: Any,
) -> Json:
    """Return horizontal bars, one a series."""
    options = {
        "displayMode": "basic",
        "orientation": "horizontal",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
    }
    defaults = field(unit, steps, min=0, **more)
    return _panel(number, "bargauge", title, description, queries, defaults, options)


def table(
    number: int,
    title: str,
    description: str,
    *columns: Query,
    names: Sequence[str],
    labels: Sequence[str],
    hidden: Sequence[str] = (),
    overrides: Sequence[Json] = (),
    sort: str = "",
) -> Json:
    """Return one row a set of ``labels`` (some ``hidden``) and one column a query, headed by ``names``.

    A query whose name is empty is there for its labels, and has no column.
    """
    letters = [chr(ord("A") + i) for i in range(len(columns))]
    values = [f"Value #{letter}" if len(columns) > 1 else "Value" for letter in letters]
    headed = {value: name for value, name in zip(values, names, strict=True) if name}
    gone = ("Time", *hidden, *(value for value in values if value not in headed))
    organize = {
        "excludeByName": dict.fromkeys(gone, True),
        "indexByName": {name: i for i, name in enumerate([*labels, *values])},
        "renameByName": headed,
    }
    options: Json = {"showHeader": True, "cellHeight": "sm"}
    if sort:
        options["sortBy"] = [{"displayName": sort, "desc": False}]
    defaults = field("short", ((None, GREY),), custom={"align": "auto", "minWidth": 60})
    panel = _panel(number, "table", title, description, columns, defaults, options, overrides)
    transformations = [{"id": "merge", "options": {}}, {"id": "organize", "options": organize}]
    return panel | {"transformations": transformations}


def heatmap(number: int, title: str, description: str, expr: str, unit: str) -> Json:
    """Return a heat map of a histogram whose series are one a bucket."""
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5, "reverse": False},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "tooltip": {"mode": "single", "yHistogram": False},
        "yAxis": {"axisPlacement": "left", "unit": unit},
    }
    queries = (Query(expr, "{{le}}", heatmap=True),)
    return _panel(number, "heatmap", title, description, queries, {}, options)


def states(number: int, title: str, description: str, *queries: Query, mappings: Sequence[Json]) -> Json:
    """Return coloured stretches of time, a row a series."""
    defaults = field(
        "none", ((None, GREY),), mappings=list(mappings), custom={"fillOpacity": 80, "lineWidth": 0}
    )
    options = {
        "alignValue": "left",
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "mergeValues": True,
        "rowHeight": 0.8,
        "showValue": "never",
        "tooltip": {"mode": "single", "sort": "none"},
    }
    return _panel(number, "state-timeline", title, description, queries, defaults, options)


def alerts(number: int, title: str, description: str) -> Json:
    """Return the list of alerts that wait or fire; they are Prometheus's, and Grafana shows them."""
    options = {
        "alertInstanceLabelFilter": "",
        "alertName": "Inference",
        "dashboardAlerts": False,
        "datasource": "${datasource}",
        "groupBy": [],
        "groupMode": "default",
        "maxItems": 20,
        "sortOrder": 1,
        "stateFilter": {"error": True, "firing": True, "noData": False, "normal": False, "pending": True},
        "viewMode": "list",
    }
    return _panel(number, "alertlist", title, description, (), None, options)


def values(*states: tuple[float, str, str]) -> Json:
    """Return what numbers mean: (number, text, colour)."""
    options = {
        f"{number:g}": {"text": text, "color": colour, "index": i}
        for i, (number, text, colour) in enumerate(states)
    }
    return {"type": "value", "options": options}


def _panel(  # noqa: PLR0917 - in the order of the public functions
    number: int,
    kind: str,
    title: str,
    description: str,
    queries: Sequence[Query],
    defaults: Json | None,
    options: Json,
    overrides: Sequence[Json] = (),
) -> Json:
    panel: Json = {"id": number, "type": kind, "title": title, "description": description, "options": options}
    if queries:
        panel["datasource"] = SOURCE
        panel["targets"] = [_target(chr(ord("A") + i), query) for i, query in enumerate(queries)]
    if defaults is not None:
        panel["fieldConfig"] = {"defaults": defaults, "overrides": list(overrides)}
    return panel


def _target(letter: str, query: Query) -> Json:
    target: Json = {"refId": letter, "datasource": SOURCE, "expr": query.expr, "editorMode": "code"}
    if query.table:
        return target | {"format": "table", "instant": True, "range": False}
    style = "heatmap" if query.heatmap else "time_series"
    return target | {"format": style, "instant": False, "range": True, "legendFormat": query.legend}
