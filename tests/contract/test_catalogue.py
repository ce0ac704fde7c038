"""The catalogue, its documentation, a scrape and the source agree."""

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from exporter.cli.metrics import metrics
from exporter.metrics.catalogue import ALL, GROUPS
from exporter.metrics.catalogue.gpu import GPU
from exporter.metrics.catalogue.kernel import KERNEL
from exporter.metrics.catalogue.load import LOAD
from exporter.metrics.catalogue.power import POWER
from exporter.metrics.catalogue.process import PROCESS
from exporter.metrics.catalogue.schedule import CRASH_ENDINGS
from exporter.metrics.definitions import BOUND_FROM, VALUE_MEANINGS
from exporter.metrics.family import Type
from exporter.model.clocks import Clock
from exporter.model.outcome import Outcome
from exporter.scheduler.job import Ending
from tests.metrics.scrape import told_sink

ROOT = Path(__file__).parents[2]
EVERY = tuple(family for group in GROUPS for family in group.families)
TAKEN = {
    *("endpoint", "instance", "job", "service", "namespace", "pod", "container"),
    *("region", "zone", "cluster", "env", "le", "quantile", "type"),
}
UNITS = {"seconds", "bytes", "joules", "watts", "celsius", "ratio", "hertz", "tokens"}
by_name = pytest.mark.parametrize("family", EVERY, ids=lambda family: family.name)


@by_name
def test_a_name_says_what_it_is(family):
    assert re.fullmatch(r"(inference|process)_[a-z0-9_]+[a-z0-9]", family.name)
    assert family.name.endswith("_total") == (family.type is Type.COUNTER)
    assert not re.search(r"_(count|sum|bucket|created)$", family.name)
    assert not family.name.endswith("_info") or family.type is Type.GAUGE
    base = family.name.removesuffix("_total")
    if family.unit in UNITS:
        assert base.endswith(f"_{family.unit}")
    for unit in UNITS - {"tokens"}:
        if base.endswith(f"_{unit}") and not base.endswith(f"_per_{unit.removesuffix('s')}"):
            assert family.unit == unit


@by_name
def test_labels_clash_with_nobody_and_are_said_once(family):
    assert TAKEN.isdisjoint(family.labels)
    assert len(set(family.labels)) == len(family.labels)
    for label, values in family.closed:
        assert label in family.labels
        assert len(set(values)) == len(values) > 0


@by_name
def test_help_is_one_line_of_sentences(family):
    assert family.help.endswith(".")
    assert "\n" not in family.help
    assert len(family.help) <= 400


@by_name
def test_only_histograms_have_buckets_and_those_rise(family):
    assert bool(family.buckets) == (family.type is Type.HISTOGRAM)
    assert list(family.buckets) == sorted(set(family.buckets))


def test_no_name_stands_twice():
    names = [family.name for family in EVERY]
    assert len(names) == len(set(names))


def test_every_closed_value_that_needs_a_meaning_has_one():
    closed = {(family.name, label): values for family in EVERY for label, values in family.closed}
    for key, meanings in VALUE_MEANINGS.items():
        assert tuple(meanings) == tuple(closed[key])
    assert tuple(BOUND_FROM) == (Clock.TTFT, Clock.TTFC, Clock.ITL, Clock.TPOT, Clock.E2E)
    assert set(BOUND_FROM) == set(Clock)


def test_every_outcome_has_its_place():
    reasons = dict(next(f for f in ALL if f.name == "inference_probe_failures_total").closed)["reason"]
    causes = dict(next(f for f in ALL if f.name == "inference_probes_missed_total").closed)["cause"]
    assert {*reasons} | ({*causes} & {*Outcome}) | {Outcome.OK} == {*Outcome}
    assert {*reasons}.isdisjoint(causes)


def test_the_schedulers_bad_endings_are_those_of_the_catalogue():
    assert set(CRASH_ENDINGS) == {*Ending} - {Ending.FINISHED, Ending.CANCELLED}


def test_the_committed_documentation_is_the_commands_output():
    run = CliRunner().invoke(metrics)
    assert run.exit_code == 0
    assert run.output == (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    for family in EVERY:
        assert f"| `{family.name}` | {family.type} |" in run.output


def test_a_scrape_has_every_family_of_the_catalogue_and_no_other():
    text = told_sink().render("")[0].decode()
    helps = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE))
    types = dict(re.findall(r"^# TYPE (\S+) (.*)$", text, re.MULTILINE))
    assert types == {family.name: str(family.type) for family in (*ALL, *PROCESS)}
    assert {family.name: helps[family.name] for family in ALL} == {family.name: family.help for family in ALL}


def test_after_a_full_story_every_family_of_the_probes_and_the_service_has_a_series():
    text = told_sink().render("")[0].decode()
    shown = {re.split(r"[{ ]", line)[0] for line in text.splitlines() if not line.startswith("#")}
    bases = shown | {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown}
    silent = {family.name for family in (*ALL, *PROCESS)} - bases
    elsewhere = {family.name for family in (*KERNEL, *POWER, *GPU, *LOAD)}
    assert silent <= elsewhere


def test_only_the_catalogue_spells_a_metric_name():
    name = re.compile(r"\binference_[a-z]|\bprocess_[a-z_]+_(seconds|bytes|fds)\b")
    spelled = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.value[:60]!r}"
        for path in sorted((ROOT / "exporter").rglob("*.py"))
        if path.parent.name != "catalogue"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and name.search(node.value)
    ]
    assert spelled == []


@pytest.mark.stack
def test_promtool_finds_nothing_to_say_about_a_scrape():
    promtool = shutil.which("promtool")
    if promtool is None and not os.environ.get("INFERENCE_REQUIRE_ALL"):
        pytest.skip("promtool is not on the path; INFERENCE_REQUIRE_ALL=1 makes this a failure")
    assert promtool is not None, "promtool is not on the path: install the prometheus package"
    body, _ = told_sink().render("")
    own = b"\n".join(line for line in body.splitlines() if b"process_" not in line) + b"\n"
    run = subprocess.run([promtool, "check", "metrics"], input=own, capture_output=True, check=False)
    assert (run.returncode, run.stdout + run.stderr) == (0, b"")
