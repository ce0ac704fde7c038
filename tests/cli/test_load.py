"""The command: flags become a plan, a run becomes tables, JSON and a file."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.truth import TruthServer
from exporter.cli.load_options import Flags, plan_of, pricing_of
from exporter.cli.main import cli
from exporter.load.runfile import SCHEMA, read_run
from exporter.model.clocks import Clock
from exporter.model.load_plan import Api, Bounds, LoadPlan, Mode, Within
from exporter.model.load_result import Pricing
from tests.truth.conftest import compiler, start  # noqa: F401 - fixtures

NOTHING = dict.fromkeys(Flags.__dataclass_fields__) | {
    "arrivals": "poisson",
    "no_stream": False,
    "knee": False,
    "good": (),
    "shared_prefix": 0.0,
}


def flags(**given: object) -> Flags:
    return Flags(**(NOTHING | given))


def plan(base: LoadPlan | None = None, **given: object) -> LoadPlan:
    return plan_of(flags(**given), base, 4)


def test_flags_become_a_plan() -> None:
    made = plan(
        concurrency="1,2,8",
        requests=50,
        seconds="30",
        settle="500ms",
        max_tokens=9,
        good=["ttft=500ms", "e2e=2s"],
    )
    assert (made.mode, made.levels, made.requests_per_step) == (Mode.CLOSED, (1.0, 2.0, 8.0), 50)
    assert (made.seconds_per_step, made.settle_s, made.prompts[0].max_tokens) == (30.0, 0.5, 9)
    assert made.good == (Within(Clock.TTFT, 0.5), Within(Clock.E2E, 2.0))
    assert plan(rate="2,4", arrivals="constant").mode is Mode.CONSTANT
    assert plan(api="embeddings").api is Api.EMBEDDINGS
    assert not plan(api="embeddings").stream
    assert plan(concurrency="256").workers == 2


@pytest.mark.parametrize(
    ("says", "given", "words"),
    [
        ("both loops", {"rate": "1", "concurrency": "1"}, "remove one"),
        ("words for numbers", {"concurrency": "many"}, "numbers with commas"),
        ("an unknown clock", {"good": ["ttf=1s"]}, "ttft=500ms"),
        ("more than the default bound", {"concurrency": "300"}, "at most 256"),
        ("a knee of nothing", {"knee": True, "concurrency": "1,8"}, "give one"),
        ("a length in words", {"input_tokens": "long"}, "length in tokens"),
        ("a share above one", {"input_tokens": "9", "shared_prefix": 2.0}, "between 0 and 1"),
        ("a file that is not there", {"mix": Path("/no/such/file")}, "cannot be read"),
    ],
)
def test_a_flag_that_cannot_be_used_says_why(says: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plan(**given)


def test_no_flag_goes_beyond_the_configuration() -> None:
    base = LoadPlan(
        scenario="s", levels=(4.0,), bounds=Bounds(seconds=60, tokens=1000, concurrency=8, money=1.0)
    )
    asked = plan(base, max_seconds="600", max_tokens_total=10**6, max_money=50.0, max_requests=5)
    assert (asked.bounds.seconds, asked.bounds.tokens, asked.bounds.money) == (60, 1000, 1.0)
    assert asked.bounds.requests == 5
    with pytest.raises(ValueError, match="at most 8"):
        plan(base, concurrency="9")


def test_a_mix_and_traces_are_read(tmp_path: Path) -> None:
    mix = tmp_path / "mix.jsonl"
    mix.write_text('{"prompt": "a", "max_tokens": 3, "weight": 2}\n{"prompt": "b"}\n')
    read = [(p.text, p.max_tokens, p.weight) for p in plan(mix=mix).prompts]
    assert read == [("a", 3, 2.0), ("b", 64, 1.0)]
    mooncake, burst = tmp_path / "m.jsonl", tmp_path / "b.csv"
    rows = [(3000, 7, 2), (1000, 5, 1)]
    names = ("timestamp", "input_length", "output_length")
    mooncake.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
    burst.write_text("Timestamp,Model,Request tokens,Response tokens\n5,x,5,1\n7,x,7,2\n")
    for path in (mooncake, burst):
        trace = plan(trace=path).trace
        assert [(a.at_s, a.input_tokens, a.output_tokens) for a in trace] == [(0.0, 5, 1), (2.0, 7, 2)]
    bad = tmp_path / "bad.csv"
    bad.write_text("when,how\n1,2\n")
    with pytest.raises(ValueError, match=r"bad.csv:2: needs a time"):
        plan(trace=bad)


def test_synthetic_prompts_have_the_lengths_and_the_prefix_asked_for() -> None:
    prompts = plan(input_tokens="100", output_tokens="20+-5", shared_prefix=0.5).prompts
    words = [prompt.text.split() for prompt in prompts]
    assert {len(w) for w in words} == {100}
    assert len({tuple(w[:50]) for w in words}) == 1
    assert len({tuple(w[50:]) for w in words}) == len(words)
    assert len({p.max_tokens for p in prompts}) > 5
    assert len({p.text.split()[0] for p in plan(input_tokens="10").prompts}) == 256


def test_prices_come_from_flags() -> None:
    assert pricing_of(Pricing(), ["capex=100", "currency=EUR"]) == Pricing(capex=100.0, currency="EUR")
    with pytest.raises(ValueError, match="watts"):
        pricing_of(Pricing(), ["wats=3"])


@pytest.fixture
def server(start) -> Iterator[TruthServer]:  # noqa: F811
    return start("--ttft-ms", "4", "--itl-ms", "1")


@pytest.mark.cc
def test_a_run_as_tables_and_as_a_file(server: TruthServer, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    arguments = ["load", "--base-url", server.base_url, "--model", "m"]
    arguments += ["--concurrency", "1,3", "--requests", "20"]
    done = CliRunner().invoke(cli, [*arguments, "--max-tokens", "4", "--good", "ttft=5s", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "3 clients" in done.output
    assert "Throughput" in done.output
    run = read_run(out)
    assert [step.tally.succeeded for step in run.steps] == [20, 20]
    assert json.loads(out.read_text())["schema"] == SCHEMA


@pytest.mark.cc
def test_a_run_is_printed_although_its_file_cannot_be_written(server: TruthServer, tmp_path: Path) -> None:
    arguments = ["load", "--base-url", server.base_url, "--model", "m", "--concurrency", "1"]
    arguments += ["--requests", "5", "--max-tokens", "4", "--out", str(tmp_path / "none" / "run.json")]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 1
    assert "Throughput" in done.output
    assert "choose another path with --out" in done.output


@pytest.mark.cc
def test_a_configured_run_as_json(server: TruthServer, tmp_path: Path) -> None:
    path = tmp_path / "c.yml"
    path.write_text(
        f"targets:\n- {{name: t, base_url: '{server.base_url}', model: m, probes: [{{name: p, kind: chat}}], "
        "load: [{name: a, concurrency: [2], requests_per_step: 10, max_tokens: 3}, "
        "{name: b, concurrency: [1]}]}\n"
    )
    done = CliRunner().invoke(cli, ["load", "--config", str(path), "t", "a", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["steps"][0]["n"] == 10
    unsaid = CliRunner().invoke(cli, ["load", "--config", str(path), "t"])
    assert unsaid.exit_code == 2
    assert "name one of a, b" in unsaid.output


@pytest.mark.parametrize(
    ("says", "arguments", "words"),
    [
        ("a target without a file", ["t"], "needs --config"),
        ("a bad flag", ["--base-url", "http://h/v1", "--model", "m", "--rate", "x"], "with commas"),
        (
            "a good without a unit",
            ["--base-url", "http://h/v1", "--model", "m", "--good", "ttft=500"],
            "--good ttft",
        ),
        ("an endpoint without a model", ["--base-url", "http://h/v1"], "--base-url needs --model"),
        ("no endpoint at all", [], "OPENAI_BASE_URL"),
    ],
)
def test_what_cannot_be_run_says_why(says: str, arguments: list[str], words: str, monkeypatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(cli, ["load", *arguments])
    assert done.exit_code != 0
    assert words in done.output


@pytest.mark.cc
def test_an_interrupt_keeps_what_was_measured(server: TruthServer, tmp_path: Path) -> None:
    out = tmp_path / "run.json"
    command = [sys.executable, "-m", "exporter", "load", "--base-url", server.base_url, "--model", "m"]
    process = subprocess.Popen(
        [*command, "--requests", "100000", "--max-requests", "10000", "--out", str(out)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    deadline = time.monotonic() + 60
    while not server_was_asked(server) and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    run = read_run(out)
    assert run.stopped == "stopped by hand"
    assert run.steps[0].tally.succeeded > 0


def server_was_asked(server: TruthServer) -> bool:
    """Tell whether anybody is connected."""
    wanted = f":{server.port:04X}"
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(row.split()[2].endswith(wanted) and row.split()[3] == "01" for row in rows)


@pytest.mark.cc
def test_nothing_that_succeeded_is_a_failure(server: TruthServer) -> None:
    url = server.with_shape(fault="err")
    done = CliRunner().invoke(cli, ["load", "--base-url", url, "--model", "m", "--requests", "5"])
    assert done.exit_code == 1
    assert "http_5xx" in done.output
