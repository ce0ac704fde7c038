"""The dashboards hold together: on the grid, in the catalogue, in Grafana's own types, and as committed."""

import json
import re
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from exporter.metrics.catalogue import GROUPS
from exporter.metrics.family import Family, Type
from grafana.board import line
from grafana.build import main
from grafana.panel import Query, stat
from tests.grafana.reading import BUILT_IN, DASHBOARDS, EVERY, Asked, Json, panels, variables
from tests.prometheus.test_rule_contract import RECORDED, metric_names, selectors

SUFFIXES = {Type.HISTOGRAM: ("_bucket", "_count", "_sum"), Type.GAUGE: ("",), Type.COUNTER: ("",)}
SERIES: dict[str, Family] = {
    family.name + suffix: family
    for group in GROUPS
    for family in group.families
    for suffix in SUFFIXES[family.type]
}
OF_PROMETHEUS = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
OF_THE_DATA_SOURCE = {"titleFormat", "textFormat"}
"""Of an annotation: for Prometheus's data source; Grafana's types of a dashboard leave them out."""
WORDS = {"vector", "time", "avg", "rate", "max_over_time", "mean"}
boards = pytest.mark.parametrize("board", DASHBOARDS.values(), ids=DASHBOARDS)
queries = pytest.mark.parametrize("query", EVERY, ids=str)


def names(expr: str) -> set[str]:
    """The series that an expression reads, those that it names by an expression too."""
    bare = re.sub(r"\[\$\w+\]", "[5m]", expr)
    chosen = re.findall(r'__name__=~"([^"]*)"', expr)
    return metric_names(bare) - WORDS | {name for each in chosen for name in each.split("|")}


def test_the_committed_boards_are_those_that_the_generator_writes(tmp_path, capsys):
    assert main(["--check"]) == 0
    assert main(["--out", str(tmp_path), "--runbooks", "https://wiki/runbooks"]) == 0
    assert main(["--check", "--out", str(tmp_path)]) == 1
    assert '+   "url": "docs/runbooks.md"' in capsys.readouterr().out


def test_each_board_has_an_address_of_its_own():
    uids = [board["uid"] for board in DASHBOARDS.values()]
    assert len({*uids}) == len(uids)
    for uid in uids:
        assert re.fullmatch(r"inference-[a-z-]{1,30}", uid)


@boards
def test_ids_of_panels_are_unique(board):
    counted = Counter(panel["id"] for panel in [*board["panels"], *panels(board)] if panel["type"] != "row")
    counted.update(panel["id"] for panel in board["panels"] if panel["type"] == "row")
    rows = sum(panel["type"] != "row" for panel in board["panels"])
    assert all(n == 2 for number, n in counted.items() if number < 1001)
    assert sum(n for number, n in counted.items() if number < 1001) == 2 * rows


@boards
def test_no_panel_overlaps_another_or_leaves_the_grid(board):
    places = {panel["title"]: panel["gridPos"] for panel in board["panels"]}
    for one, other in combinations(board["panels"], 2):
        a, b = one["gridPos"], other["gridPos"]
        beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        under = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert beside or under, f"{one['title']} and {other['title']} overlap"
    assert all(place["x"] + place["w"] <= 24 for place in places.values())


@boards
def test_every_panel_says_what_it_shows(board):
    for panel in panels(board):
        assert panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        if "fieldConfig" in panel and panel["type"] != "heatmap":
            assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
            assert target["format"] == "table" or target["legendFormat"], panel["title"]


@boards
def test_a_table_names_every_column(board):
    for panel in panels(board):
        if panel["type"] == "table":
            organize = panel["transformations"][1]["options"]
            renamed, excluded = organize["renameByName"], organize["excludeByName"]
            assert len(renamed) == len({*renamed.values()})
            letters = (
                [f"Value #{t['refId']}" for t in panel["targets"]] if panel["targets"][1:] else ["Value"]
            )
            assert {*letters} == renamed.keys() | {name for name in excluded if name.startswith("Value")}


@queries
def test_every_name_is_in_the_catalogue_or_recorded_by_the_rules(query: Asked):
    assert names(query.expr) <= SERIES.keys() | RECORDED | OF_PROMETHEUS


@queries
def test_every_matched_label_is_one_of_its_family(query: Asked):
    for name, matchers in selectors(query.expr):
        if name in SERIES:
            extra = {"le"} if name.endswith("_bucket") else set()
            labels = {*SERIES[name].labels, "job", "instance"} | extra
            closed = dict(SERIES[name].closed)
            for label, _, value in matchers:
                assert label in labels, f"{name} has no label {label}"
                if label in closed and "$" not in value:
                    assert set(value.split("|")) <= {*closed[label]}


@queries
def test_a_counter_is_read_over_a_window_that_holds_scrapes(query: Asked):
    for window in re.findall(r"\[([^\]]+)\]", query.expr):
        assert window in {"$__rate_interval", "$window", "2m"}
    for name in names(query.expr) & SERIES.keys():
        counts = SERIES[name].type is not Type.GAUGE
        for inside in re.findall(rf"(\w*)\(?{name}(?:{{[^}}]*}})?\[", query.expr) if counts else ():
            assert inside in {"rate", "increase"}
        assert not counts or re.search(rf"(rate|increase)\({name}(\{{[^}}]*\}})?\[", query.expr)


@queries
def test_quantiles_are_not_averaged(query: Asked):
    assert not re.search(r"(avg|sum)\s*(by \([^)]*\))?\s*\(\s*histogram_quantile", query.expr)


@boards
def test_every_variable_that_is_used_is_there_and_the_other_way_round(board):
    there = {each["name"] for each in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z_]\w*)", json.dumps(board)))
    assert used - {*BUILT_IN} - {"__all", "__value", "__url_time_range"} == there


@boards
def test_every_link_leads_to_a_board_that_exists(board):
    uids = {each["uid"] for each in DASHBOARDS.values()}
    for uid in re.findall(r"/d/([\w-]+)", json.dumps(board)):
        assert uid in uids
    assert [link["title"] for link in board["links"]] == ["Boards", "Runbooks"]
    assert board["links"][0]["tags"] == board["tags"]


@boards
def test_variables_ask_for_labels_of_families(board):
    for each in variables(board, "query"):
        name, label = re.fullmatch(
            r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", each["query"]["query"]
        ).groups()
        assert label in {*SERIES[name].labels, "job", "instance"}


@boards
def test_grafanas_types_lose_nothing_of_it(board: Json):
    plugins.register_default_plugins()
    encoded = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    lost = {re.sub(r"\d+", "N", each) for each in differences(board, encoded)}
    assert lost == {f"lost .annotations.list[N].{key}" for key in OF_THE_DATA_SOURCE}


def test_the_typed_round_trip_finds_a_misspelt_option():
    plugins.register_default_plugins()
    board = {
        "uid": "x",
        "panels": [stat(1, "a", "b.", Query("up"), unit="s") | {"gridPos": {"x": 0, "y": 0}}],
    }
    board["panels"][0]["options"]["colorMod"] = "value"
    encoded = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    assert list(differences(board, encoded)) == ["lost .panels[0].options.colorMod"]


def test_panels_that_do_not_fill_a_line_are_refused():
    panel = stat(1, "a", "b.", Query("up"), unit="s")
    with pytest.raises(ValueError, match="fill 20 of 24"):
        line(4, panel, panel, widths=(10, 10))


def differences(before: Any, after: Any, path: str = ""):
    """What is in the first and not, or not the same, in the second."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key in after:
                yield from differences(value, after[key], f"{path}.{key}")
            elif value is not None:
                yield f"lost {path}.{key}"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}[{i}]")
    elif before != after:
        yield f"changed {path}: {before!r} to {after!r}"
