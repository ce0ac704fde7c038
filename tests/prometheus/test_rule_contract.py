"""The rules name only what the exporter writes, and every alert is documented and tested."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from exporter.metrics.catalogue import ALL
from exporter.metrics.family import Type
from prometheus.build import main, texts
from prometheus.promql import Pace
from tests.prometheus import test_sla_alerts, test_target_alerts
from tests.prometheus.stories import ROOT, RULES, Story

STORIES = (*test_sla_alerts.STORIES.values(), *test_target_alerts.STORIES.values())
GROUPS = [group for path in RULES for group in yaml.safe_load(path.read_text())["groups"]]
EVERY = [rule for group in GROUPS for rule in group["rules"]]
ALERTS = {rule["alert"]: rule for rule in EVERY if "alert" in rule}
RECORDED = {rule["record"] for rule in EVERY if "record" in rule}
FAMILIES = {family.name: family for family in ALL}
SUFFIXES = {Type.HISTOGRAM: ("_bucket", "_count", "_sum"), Type.GAUGE: ("",), Type.COUNTER: ("",)}
SERIES = {family.name + suffix: family for family in ALL for suffix in SUFFIXES[family.type]}
OF_THE_SCRAPE = {"job", "instance"}
WORDS = {
    *(
        "and",
        "or",
        "unless",
        "on",
        "by",
        "bool",
        "offset",
        "group_left",
        "ignoring",
        "sum",
        "max",
        "min",
        "group",
    ),
    *("count", "topk", "increase", "rate", "changes", "ln", "clamp_min", "clamp_max", "time", "absent"),
    *("sum_over_time", "max_over_time", "avg_over_time", "last_over_time"),
    *("histogram_quantile", "label_replace"),
}
LATER_THAN_2_42 = ("sort_by_label", "limitk", "mad_over_time", "info(", "histogram_avg", "double_exponential")


def expressions(rule: dict) -> list[str]:
    """The rule's expression and those in its annotations."""
    texts = rule.get("annotations", {}).values()
    return [rule["expr"], *(query for text in texts for query in re.findall(r"printf `([^`]*)`", text))]


def without_strings(expr: str) -> str:
    return re.sub(r'"[^"]*"', '""', expr)


def metric_names(expr: str) -> set[str]:
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", without_strings(expr))
    bare = re.sub(r"\b(by|on|ignoring|group_left)\s*\([^)]*\)", "", bare)
    bare = re.sub(r"\boffset \w+|%[.\w]+", "", bare)
    return set(re.findall(r"(?<![\w:.])[a-zA-Z_:][\w:]*", bare)) - WORDS


def selectors(expr: str) -> list[tuple[str, list[tuple[str, str, str]]]]:
    found = re.findall(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}", expr)
    return [(name, re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', inner)) for name, inner in found]


def aggregations(expr: str) -> list[tuple[set[str], str]]:
    """The labels of every `by (...)` and the text that it aggregates."""
    found = []
    for match in re.finditer(r"\bby \(([^)]*)\) \(", expr):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(expr[end], 0)
            end += 1
        found.append(({label.strip() for label in match[1].split(",")}, expr[match.end() : end - 1]))
    return found


def labels_of(name: str) -> set[str]:
    extra = {"le"} if name.endswith("_bucket") else set()
    return {*SERIES[name].labels} | extra | OF_THE_SCRAPE


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.get("alert") or rule["record"])
def test_every_name_is_in_the_catalogue_or_recorded_here(rule):
    for expr in expressions(rule):
        assert metric_names(expr) <= SERIES.keys() | RECORDED | {"up"}
        assert "le=" not in expr


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.get("alert") or rule["record"])
def test_every_label_is_one_of_its_family_with_a_value_that_it_can_take(rule):
    for expr in expressions(rule):
        for name, matchers in selectors(expr):
            for label, operator, value in matchers:
                if name in SERIES:
                    assert label in labels_of(name)
                    closed = dict(SERIES[name].closed).get(label)
                    if closed and value != "%s":
                        assert set(value.split("|") if operator == "=~" else [value]) <= {*closed}
        for labels, inner in aggregations(expr):
            raw = metric_names(inner) & SERIES.keys()
            if raw:
                assert labels <= set.union(*(labels_of(name) for name in raw))


def test_the_contract_sees_names_labels_and_values():
    expr = 'sum by (le, job) (rate(inference_x_bucket{cause=~"a|b"}[5m] offset 1w)) / sli:y:ratio1h > 3'
    assert metric_names(expr) == {"inference_x_bucket", "sli:y:ratio1h"}
    assert selectors(expr) == [("inference_x_bucket", [("cause", "=~", "a|b")])]
    assert [labels for labels, _ in aggregations(expr)] == [{"le", "job"}]


def test_nothing_later_than_2_42_is_used():
    for rule in EVERY:
        assert not [word for word in LATER_THAN_2_42 if word in rule["expr"]]


def test_the_committed_rules_are_those_that_the_generator_writes(tmp_path, capsys):
    assert main(["--check"]) == 0
    assert main(["--out", str(tmp_path), "--runbooks", "https://wiki/runbooks"]) == 0
    assert main(["--check", "--out", str(tmp_path)]) == 1
    assert "+      runbook_url: docs/runbooks.md#inferencetargetdown" in capsys.readouterr().out


@pytest.mark.stack
@pytest.mark.parametrize("times", [1, 30])
def test_promtool_accepts_the_rules_at_any_pace(times, tmp_path):
    for name, content in texts(Pace(times)).items():
        (tmp_path / name).write_text(content)
    files = [str(path) for path in tmp_path.glob("*.yml")]
    subprocess.run([shutil.which("promtool"), "check", "rules", *files], check=True, capture_output=True)


def _bystanders(story: Story, told: list[str]) -> set[str]:
    """The targets and devices of a story of which nobody is told."""
    there = {who for series in story.series for who in re.findall(r'(?:target|device)="([^"]+)"', series)}
    return there - {one.partition("/")[0] for one in told}


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_a_story_in_which_it_fires_and_one_in_which_it_is_quiet(alert):
    told = [at[alert] for story in STORIES for at in story.firing.values() if alert in at]
    assert any(told)
    quiet = [*told, *([] for story in STORIES if alert in story.never)]
    beside = [
        story
        for story in STORIES
        for at in story.firing.values()
        if alert in at and _bystanders(story, at[alert])
    ]
    assert [] in quiet or beside


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
def test_every_alert_says_what_it_is_and_where_its_runbook_is(alert):
    notes = alert["annotations"]
    assert alert.get("labels", {}).get("severity") in {"page", "ticket", None}
    assert "severity" in alert.get("labels", {}) or "severity" in alert["expr"]
    assert notes["summary"]
    assert notes["description"].endswith((".", "}}"))
    assert alert.get("keep_firing_for")
    path, _, heading = notes["runbook_url"].partition("#")
    headings = re.findall(r"^## (\w+)$", (ROOT / path).read_text(), re.MULTILINE)
    assert heading in {title.lower() for title in headings}


def test_no_runbook_is_about_an_alert_that_does_not_exist():
    headings = re.findall(r"^## (Inference\w+)$", (ROOT / "docs" / "runbooks.md").read_text(), re.MULTILINE)
    assert sorted(headings) == sorted(ALERTS)


def test_a_recorded_name_is_level_metric_operation():
    for name in RECORDED:
        level, metric, operation = name.split(":")
        assert level in {"sli", "probe", "probe_kind", "scenario", "scenario_kind", "target_work"}
        assert metric.startswith("inference_")
        assert operation


def test_names_of_rule_files_are_those_of_the_generator():
    assert {path.name for path in RULES} == {*texts(Pace())}
    assert all(isinstance(path, Path) for path in RULES)
