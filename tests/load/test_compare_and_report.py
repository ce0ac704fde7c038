"""Run files survive, comparisons say what they may, reports show what is there."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from exporter.cli.main import cli
from exporter.load.compare import compare, fixed_differences, sides
from exporter.load.runfile import RunFileError, dumps, read_run
from exporter.model.clocks import Clock
from exporter.model.load_histogram import Recorder
from exporter.model.load_knee import Knee, KneeSearch, wilson
from exporter.model.load_plan import LoadPlan, Prompt, Within
from exporter.model.load_result import Ended, Fingerprint, LoadRun, Pricing, Served, Step, Tally
from exporter.model.outcome import Outcome
from exporter.report.html import html
from exporter.report.markdown import markdown
from exporter.report.svg import Line, Plot, svg

HOST = Fingerprint(
    host_cpu="cpu", cores=2, system="Linux", python="3.11", exporter="0", load_before=0.1, load_after=0.2
)


def step(
    median_ms: float, n: int = 400, level: float = 4.0, seed: int = 1, failed: int = 0, **more: object
) -> Step:
    draws = np.random.default_rng(seed).lognormal(math.log(median_ms), 0.2, n)
    recorder = Recorder()
    for draw in draws:
        recorder.add(round(draw * 1e6))
    spread = recorder.take()
    outcomes = [Ended(Outcome.OK, n), *([Ended(Outcome.HTTP_5XX, failed)] if failed else [])]
    tally = Tally(
        sent=n + failed,
        outcomes=tuple(outcomes),
        good=n // 2,
        wall_s=10.0,
        sending_s=10.0,
        in_flight_s=10.0 * level,
        values=3 * n,
        output_tokens=10 * n,
        input_tokens=5 * n,
        ttft=spread,
        e2e=spread,
        itl=spread,
        tpot=spread,
    )
    return Step(level=level, started_unix_s=0.0, tally=replace(tally, **more))


def run_of(*steps: Step, **more: object) -> LoadRun:
    plan = LoadPlan(
        scenario="s", levels=(4.0,), good=(Within(Clock.TTFT, 0.1),), prompts=(Prompt(text="my secret"),)
    )
    plain = {
        "plan": plan,
        "served": Served(target="t", base_url="http://h/v1", model="m"),
        "fingerprint": HOST,
        "started_unix_s": 0.0,
        "steps": steps,
        "pricing": Pricing(input_per_mtok=1.0, output_per_mtok=2.0),
    }
    return LoadRun(**(plain | more))


def verdict(a: LoadRun, b: LoadRun, figure: str) -> str:
    (found,) = [d for d in compare(a, b, np.random.default_rng(1)).differences if d.figure == figure]
    return found.verdict


def test_a_run_file_can_be_read_back_and_holds_no_prompt(tmp_path: Path) -> None:
    run = run_of(step(50), step(60, failed=9), knee=Knee(holds=4.0, fails=None, confident=True, ratio=0.95))
    path = tmp_path / "run.json"
    path.write_text(dumps(run))
    assert "my secret" not in path.read_text()
    again = read_run(path)
    assert again.steps == run.steps
    assert again.plan.prompts[0].text.endswith("9 characters")
    assert dumps(again) == dumps(run)


def test_rounds_without_a_clock_leave_its_rows_out() -> None:
    nothing = Recorder().take()
    whole = run_of(*(step(50, seed=n, ttft=nothing, itl=nothing, tpot=nothing) for n in range(5)))
    figures = [d.figure for d in compare(whole, whole, np.random.default_rng(1)).differences]
    assert figures == ["e2e p50", "e2e p99", "success ratio", "goodput ratio", "QPS"]


def test_a_percentile_that_is_a_failures_is_infinite_in_the_file() -> None:
    figures = json.loads(dumps(run_of(step(50, n=100, failed=10))))["steps"][0]
    assert figures["latency"]["ttft"]["with_failures_s"]["p99"] == "inf"
    assert figures["latency"]["ttft"]["success_only_s"]["p99"] < 1


def test_latencies_of_a_limited_client_are_not_published_as_the_servers() -> None:
    limited = step(50, level=256.0, in_flight_s=200.0, n=2000)
    run = run_of(limited)
    figures = json.loads(dumps(run))["steps"][0]
    assert figures["client_limited"]
    assert figures["latency"] is None
    assert figures["latency_not_the_servers"]["ttft"]["n"] == 2000
    assert "| client | client |" in markdown([run])
    assert "drive from a machine with idle cores" in markdown([run])
    assert "drive from" not in markdown([run_of(step(50))])


@pytest.mark.parametrize(
    ("says", "text", "words"),
    [
        ("no JSON", "{", "not JSON"),
        ("another schema", '{"schema": "x"}', "is not inference-exporter/load/1"),
        ("a damaged one", '{"schema": "inference-exporter/load/1", "run": {}}', "damaged"),
    ],
)
def test_a_file_that_is_no_run_file_is_refused(tmp_path: Path, says: str, text: str, words: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(RunFileError, match=words):
        read_run(path)


def test_a_clear_difference_is_named() -> None:
    assert verdict(run_of(step(50)), run_of(step(80, seed=2)), "ttft p50") == "slower"
    assert verdict(run_of(step(80)), run_of(step(50, seed=2)), "ttft p50") == "faster"


def test_what_cannot_be_told_says_how_much_more_is_needed() -> None:
    said = verdict(run_of(step(50, n=60)), run_of(step(51.5, n=60, seed=2)), "ttft p99")
    assert re.match(r"cannot tell(, needs about [\d,]+ more requests|: within)", said)


def test_equal_servers_are_seldom_told_apart() -> None:
    wrong = sum(
        verdict(run_of(step(50, seed=s)), run_of(step(50, seed=s + 1000)), "e2e p50") in {"faster", "slower"}
        for s in range(12)
    )
    assert wrong <= 3


def test_failures_count_against_the_success_ratio_and_the_percentiles() -> None:
    a, b = run_of(step(50)), run_of(step(50, seed=2, failed=80))
    assert verdict(a, b, "success ratio") == "worse"
    assert "failure's" in verdict(a, b, "e2e p99")


def test_rounds_are_resampled_whole() -> None:
    """Three slow repeats of five are no evidence, however many requests they hold."""
    a = run_of(*[step(50 if i % 2 else 90, seed=i) for i in range(6)])
    b = run_of(*[step(90 if i % 2 else 50, seed=i + 50) for i in range(6)])
    assert verdict(a, b, "ttft p50").startswith("cannot tell")


def test_fixed_parameters_that_differ_are_named() -> None:
    a, b = run_of(step(50)), run_of(step(50))
    assert fixed_differences(a, b) == ()
    other = replace(b, plan=replace(b.plan, temperature=1.0), served=replace(b.served, model="n"))
    assert {line.partition(":")[0] for line in fixed_differences(a, other)} == {"temperature", "model"}


def test_an_interleaved_run_is_two(tmp_path: Path) -> None:
    both = run_of(
        step(50), replace(step(80, seed=2), side="b"), served_b=Served(target="u", base_url="x", model="m")
    )
    a, b = sides(both)
    assert (len(a.steps), len(b.steps), b.served.target) == (1, 1, "u")
    path = tmp_path / "ab.json"
    path.write_text(dumps(both))
    said = CliRunner().invoke(cli, ["compare", str(path)])
    assert said.exit_code == 0, said.output
    assert "slower" in said.output


def test_compare_refuses_runs_whose_parameters_differ_unless_told(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    a.write_text(dumps(run_of(step(50))))
    b.write_text(dumps(replace(run_of(step(50)), plan=replace(run_of().plan, timeout_s=9.0))))
    refused = CliRunner().invoke(cli, ["compare", str(a), str(b)])
    assert refused.exit_code == 2
    told = CliRunner().invoke(cli, ["compare", str(a), str(b), "--even-if-different", "--json"])
    assert told.exit_code == 0
    data = json.loads(told.output)
    assert data["schema"] == "inference-exporter/compare/1"
    assert data["differing"]


def test_runs_without_a_comparable_level_are_no_empty_table(tmp_path: Path) -> None:
    run = tmp_path / "run.json"
    run.write_text(dumps(run_of(step(50, level=256.0, in_flight_s=200.0, n=2000))))
    done = CliRunner().invoke(cli, ["compare", str(run), str(run)])
    assert "no load level of these two runs can be compared:\nnot compared: load 256" in done.output
    assert "figure" not in done.output


def test_the_page_is_whole_and_fetches_nothing(tmp_path: Path) -> None:
    run = run_of(
        step(50), step(70, level=8.0, in_flight_s=80.0), step(400, level=16.0, in_flight_s=160.0, failed=4)
    )
    page = html([run])
    assert not re.search(r"<script|<link|src=|url\(|@import", page)
    svgs = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(svgs) == 5
    for one in svgs:
        ET.fromstring(one)
    assert "http_5xx" in page
    assert page.count("<table>") == page.count("</table>") >= 5
    path = tmp_path / "r.json"
    path.write_text(dumps(run))
    done = CliRunner().invoke(cli, ["report", str(path), "--html", str(tmp_path / "r.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r.html").read_text() == html([read_run(path)])


def test_names_are_escaped_in_the_page() -> None:
    run = run_of(step(50), served=Served(target="<b>t</b>", base_url="http://h", model="m"))
    assert "<b>t</b>" not in html([run])


@given(st.lists(st.tuples(st.floats(0.001, 1e6), st.floats(0, 1e9)), min_size=1, max_size=20), st.booleans())
def test_any_points_make_a_plot_within_its_frame(points: list[tuple[float, float]], log: bool) -> None:
    plot = Plot(title="t", x="x", y="y", lines=(Line("l", tuple(sorted(points))),), log_x=log)
    tree = ET.fromstring(svg(plot))
    for circle in tree.iter("{http://www.w3.org/2000/svg}circle"):
        assert 60 <= float(circle.get("cx")) <= 480
        assert 20 <= float(circle.get("cy")) <= 260


@pytest.mark.parametrize(
    ("capacity", "whole", "low", "high"),
    [(5.0, True, 1.0, 64.0), (64.0, True, 1.0, 64.0), (0.5, True, 1.0, 64.0), (37.3, False, 1.0, 500.0)],
)
def test_the_search_ends_around_the_knee(capacity: float, whole: bool, low: float, high: float) -> None:
    search, asked = KneeSearch(low, high, 0.95, whole), []
    while (level := search.next_level()) is not None:
        asked.append(level)
        search.note(level, 400 if level <= capacity else 200, 400)
    knee = search.result()
    assert knee.holds is None or knee.holds <= capacity
    assert knee.fails is None or knee.fails > capacity
    assert len(asked) <= 14
    assert knee.confident
    if knee.holds and knee.fails:
        assert knee.fails <= knee.holds * 1.1 or knee.fails - knee.holds <= 1
    assert "knee" in knee.words


def test_an_undecided_level_is_run_once_more_and_then_called_uncertain() -> None:
    search = KneeSearch(4.0, 4.0, 0.95, True)
    assert search.next_level() == 4.0
    search.note(4.0, 19, 20)
    assert search.next_level() == 4.0
    search.note(4.0, 19, 20)
    assert search.next_level() is None
    assert search.result() == Knee(holds=4.0, fails=None, confident=False, ratio=0.95)


@given(st.integers(1, 5000), st.floats(0, 1))
def test_the_interval_holds_the_share(n: int, share: float) -> None:
    good = round(n * share)
    low, high = wilson(good, n)
    assert 0 <= low <= good / n + 1e-12
    assert good / n - 1e-12 <= high <= 1
