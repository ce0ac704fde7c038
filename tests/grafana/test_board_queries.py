"""Every panel and variable query runs against a real Prometheus that scrapes the real exporter."""

import json
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pynvml
import pytest

from exporter.metrics.catalogue import kernel, load
from grafana.promises import BREACHING, KEEPS
from prometheus.build import texts
from prometheus.promql import Pace
from tests.demo.conftest import running
from tests.e2e.exporter_process import started
from tests.fakes.nvml.driver import FakeDriver, build, uuid
from tests.grafana.reading import DASHBOARDS, EVERY, Asked, filled, fixed, variables
from tests.prometheus.stack import Prometheus, until

pytestmark = [
    *(pytest.mark.stack, pytest.mark.torch, pytest.mark.cc, pytest.mark.slow),
    pytest.mark.timeout(500),  # joules a token need a minute of readings, and benches come first
]
FASTER = 120.0
"""The rules' windows are so much shorter: 30 days of budget need an hour's sample, which is 30 s then."""
OF_THE_HOST = {"power.json: CPU packages and sensors A": "virtual machines have no RAPL and no sensors"}
"""Queries whose data depend on the host that runs the tests, with the reason: they must be understood."""


BENCHES_LEFT_OUT = f'sum({kernel.SKIPPED.name}{{reason="cpu_busy"}}) > 0'
SAYS_NOTHING = {
    "target.json: Its own account beside ours A": "the demo endpoint reports no durations",
    "target.json: Rate limit left A": "the demo endpoint names no limits",
}
"""Queries that have no data here, with the reason."""


class Stack:
    """A Prometheus to ask, and what the boards' variables are set to."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.chosen = {name: self._choices(name) for name in DASHBOARDS}

    def api(self, path: str, **parameters: str) -> list:
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=30) as answer:
            return json.load(answer)["data"]

    def ask(self, query: Asked) -> list:
        """The series of the query, over the last minute."""
        expr = filled(query.expr, self.chosen[query.board])
        now = time.time()
        found = self.api("query_range", query=expr, start=f"{now - 60:.0f}", end=f"{now:.0f}", step="1")
        return found["result"]

    def values(self, query: str, chosen: dict[str, str]) -> list[str]:
        """What a variable may be, in Grafana's way to ask."""
        selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", filled(query, chosen)).groups()
        return self.api(f"label/{label}/values", **{"match[]": selector})

    def _choices(self, name: str) -> dict[str, str]:
        board = DASHBOARDS[name]
        chosen = fixed(board)
        for each in variables(board, "query"):
            found = self.values(each["query"]["query"], chosen)
            assert found, f"{name}: {each['name']} has no choices"
            if each["multi"]:
                chosen[each["name"]] = f"({'|'.join(found)})"
            else:
                chosen[each["name"]] = {"a": "a", "b": "b", "target": "b"}.get(each["name"], found[-1])
                assert chosen[each["name"]] in found
        return chosen


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("stack")
    driver = FakeDriver(build(tmp_path_factory.mktemp("nvml")), folder)
    driver.set(devices=2, power=350)
    driver.put(f"field.{pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP}", 1_000_000_000)
    with running() as good, running("--error-rate", "0.4") as bad:
        config = folder / "exporter.yml"
        config.write_text(CONFIG.format(good=good.base_url, bad=bad.base_url, probe=PROBE, uuid=uuid(0)))
        with started("run", "--config", str(config), env=driver.environment) as exporter:
            exporter.wait_until_up()
            with Prometheus(
                folder, _prometheus(folder, exporter.url), "--query.lookback-delta=30s"
            ) as scraper:
                until(lambda: _has(scraper.url, "inference_gpu_up"), 60)
                driver.put("1.fail.nvmlDeviceGetMemoryInfo", 16)  # it needs a reset, and has one
                until(lambda: _has(scraper.url, "inference_gpu_faults_total"), 60)
                driver.put("1.fail.nvmlDeviceGetMemoryInfo", None)
                until(lambda: _has(scraper.url, f"{kernel.CORRECT.name} or {BENCHES_LEFT_OUT}"), 90)
                until(lambda: _has(scraper.url, "sli:inference_sla_budget_left:ratio30d"), 90)
                until(lambda: _has(scraper.url, "inference_target_tokens_per_joule"), 180)
                yield Stack(scraper.url)


@pytest.mark.parametrize("query", EVERY, ids=str)
def test_a_query_has_data(stack: Stack, query: Asked):
    if str(query) in OF_THE_HOST:
        stack.ask(query)
    elif str(query) in SAYS_NOTHING:
        assert stack.ask(query) == [], "it has data now: take it out of the list"
    else:
        # The first values of a ratio are 0 / 0, and on a busy host not every request gives every clock.
        until(lambda: any(map(real, stack.ask(query))) or is_excused(stack, query), 120)


def test_a_state_tells_a_target_that_answers_from_one_that_breaks_its_promises(stack: Stack):
    (query,) = (each for each in EVERY if str(each) == "overview.json: State A")

    def last() -> dict[str, str]:
        return {series["metric"]["target"]: series["values"][-1][1] for series in stack.ask(query)}

    until(lambda: (last().get("a"), last().get("b")) == (f"{KEEPS}", f"{BREACHING}"), 60)


def test_every_reason_for_no_data_is_about_a_query_that_exists():
    assert OF_THE_HOST.keys() | SAYS_NOTHING.keys() <= {str(query) for query in EVERY}


def is_excused(stack: Stack, query: Asked) -> bool:
    """Tell whether this host is too busy to give the query data, and the exporter says so itself."""
    if query.board == "kernels.json":
        return bool(stack.api("query", query=BENCHES_LEFT_OUT)["result"])
    limited = f"sum({load.CLIENT_LIMITED.name}) > 0"
    reads = any(family.name in query.expr for family in (load.TTFT, load.ITL, load.DURATION))
    return reads and bool(stack.api("query", query=limited)["result"]) and bool(stack.ask(query))


def real(series: dict) -> bool:
    """Tell whether the series has a finite value."""
    return any(value not in {"NaN", "+Inf", "-Inf"} for _, value in series["values"])


def _has(url: str, name: str) -> bool:
    with urllib.request.urlopen(f"{url}/api/v1/query?query={urllib.parse.quote(name)}", timeout=30) as answer:
        return bool(json.load(answer)["data"]["result"])


def _prometheus(folder: Path, exporter: str) -> Path:
    rules = folder / "rules"
    rules.mkdir()
    for name, content in texts(Pace(FASTER)).items():
        (rules / name).write_text(content)
    path = folder / "prometheus.yml"
    path.write_text(PROMETHEUS.format(folder=folder, exporter=exporter.removeprefix("http://")))
    return path


PROMETHEUS = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{folder}/rules/*.yml]
scrape_configs:
  - job_name: inference-exporter
    static_configs: [{{targets: ["{exporter}"]}}]
"""
PROBE = """\
      - name: short
        kind: chat
        params: {prompt: "Say something.", max_tokens: 8}
        sla:
          ttft: {p99: 500ms}
          itl: {p99: 500ms}
          tpot: {p99: 500ms}
          e2e: {p99: 2s}
          availability: 99%"""
CONFIG = """\
web: {{listen: "127.0.0.1:0"}}
power: {{price_per_kwh: 0.25}}
defaults: {{every: 1s, timeout: 10s}}
targets:
  - name: a
    base_url: {good}
    model: demo-random-weights
    prices: {{input_per_mtok: 0.5, output_per_mtok: 1.5, currency: USD}}
    budget: {{tokens_per_day: 10000000}}
    power: {{gpus: [{uuid}]}}
    probes:
{probe}
  - name: b
    base_url: {bad}
    model: demo-random-weights
    prices: {{input_per_mtok: 0.5, output_per_mtok: 1.5, currency: USD}}
    budget: {{tokens_per_day: 10000000}}
    power: {{watts: 300}}
    probes:
{probe}
  - name: loaded
    base_url: {good}
    model: demo-random-weights
    probes: [{{name: short, kind: chat, params: {{max_tokens: 4}}}}]
    load:
      - {{name: closed, every: 1m, confirm: true, concurrency: [1, 4], seconds_per_step: 5s, max_tokens: 8}}
      - name: open
        every: 1m
        confirm: true
        mode: constant
        rate: [5]
        seconds_per_step: 20s
        max_tokens: 8
        good: {{ttft: 2s}}
benches:
  - {{suite: light, every: 1m, devices: [cpu]}}
"""
