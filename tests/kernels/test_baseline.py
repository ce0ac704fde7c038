"""Kernels against their own past."""

import dataclasses
import json
import os

import pytest

from exporter.kernels.baseline import MAX_FINGERPRINTS, SCHEMA, Baselines
from exporter.model.regression import Interval
from tests.kernels.stage import ON_CPU, PLAIN


def interval(median):
    return Interval(q1_s=median * 0.9, median_s=median, q3_s=median * 1.1)


def judged(baselines, medians, fingerprint="a"):
    return [baselines.judge(fingerprint, "article/sdpa/cpu/float32", interval(m), 1.15) for m in medians]


def test_the_past_outlives_the_process(tmp_path):
    path = tmp_path / "deep" / "kernels.json"
    first = Baselines(path)
    judged(first, [1.0] * 6)
    first.save()
    again = judged(Baselines(path), [2.0] * 3)
    assert [s.regressed for s in again] == [False, False, True]
    assert [p.name for p in path.parent.iterdir()] == ["kernels.json"]


def test_a_new_fingerprint_begins_anew_and_the_old_one_is_kept(tmp_path):
    baselines = Baselines(tmp_path / "kernels.json")
    judged(baselines, [1.0] * 6, "torch 2.12")
    assert not any(s.regressed for s in judged(baselines, [2.0] * 20, "torch 2.13"))
    assert judged(baselines, [2.0] * 3, "torch 2.12")[-1].regressed


def test_without_a_file_it_lasts_as_long_as_the_process():
    baselines = Baselines(None)
    judged(baselines, [1.0] * 6)
    baselines.save()
    assert judged(baselines, [2.0] * 3)[-1].regressed


def test_the_file_stays_small(tmp_path):
    baselines = Baselines(tmp_path / "kernels.json")
    for i in range(3 * MAX_FINGERPRINTS):
        judged(baselines, [1.0] * 30, str(i))
    baselines.save()
    data = json.loads((tmp_path / "kernels.json").read_text())
    assert list(data["fingerprints"]) == [str(i) for i in range(2 * MAX_FINGERPRINTS, 3 * MAX_FINGERPRINTS)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{", id="half a file"),
        pytest.param("[]", id="a list"),
        pytest.param('{"schema": "other/1", "fingerprints": {}}', id="another schema"),
        pytest.param(f'{{"schema": "{SCHEMA}"}}', id="no fingerprints"),
        pytest.param(f'{{"schema": "{SCHEMA}", "fingerprints": {{"a": {{"b": 1}}}}}}', id="no history"),
        pytest.param(f'{{"schema": "{SCHEMA}", "fingerprints": {{"a": []}}}}', id="a list of runs"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_and_begun_anew(tmp_path, caplog, text):
    path = tmp_path / "kernels.json"
    path.write_text(text)
    baselines = Baselines(path)
    assert "they begin anew" in caplog.text
    judged(baselines, [1.0])
    baselines.save()
    assert json.loads(path.read_text())["schema"] == SCHEMA


def test_when_it_cannot_be_written_the_old_one_stays_and_it_is_said(tmp_path, caplog, monkeypatch):
    path = tmp_path / "kernels.json"
    path.write_text('{"schema": "x"}')
    baselines = Baselines(path)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    baselines.save()
    assert "No space left on device" in caplog.text
    assert path.read_text() == '{"schema": "x"}'
    assert len(list(tmp_path.iterdir())) == 1


async def test_three_slow_runs_of_a_plan_are_a_regression_on_that_run_alone(stage, only, tmp_path):
    only(PLAIN)
    plan = dataclasses.replace(ON_CPU, state=str(tmp_path / "kernels.json"))
    for _ in range(6):
        await stage.report("well", plan)
    standings = []
    for _ in range(3):
        naive, sdpa = (await stage.report("slow", plan)).results
        standings.append((naive.standing.regressed, sdpa.standing.regressed))
    assert standings == [(False, False), (False, False), (False, True)]


async def test_disturbed_runs_are_not_part_of_the_past(stage, only, tmp_path):
    only(PLAIN)
    state = tmp_path / "kernels.json"
    report = await stage.report("contended", dataclasses.replace(ON_CPU, state=str(state)))
    assert {r.standing for r in report.results} == {None}
    assert json.loads(state.read_text())["fingerprints"] == {}
