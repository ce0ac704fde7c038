"""From a fault on the wire to a webhook and back: the real exporter, Prometheus and Alertmanager.

Windows of hours become minutes and less: the rules are built at sixty times their pace, with one probe a
second.  Routes and inhibition are those of the example, with one webhook for every receiver.
"""

import json
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

import pytest
import yaml

from benchmarks.truth import TruthServer
from exporter.metrics.catalogue.sla import CONFIRMATIONS
from prometheus.build import texts
from prometheus.promql import Pace
from tests.e2e.exporter_process import ROOT, started
from tests.e2e.relay import Relay
from tests.prometheus.stack import Alertmanager, Prometheus, until

PACE = 60
PAGE_S = 120.0
"""Patience on a busy machine; on an idle one the whole test takes about a minute."""
pytestmark = [pytest.mark.stack, pytest.mark.cc, pytest.mark.slow, pytest.mark.timeout(500)]


class Webhook:
    """Keeps what Alertmanager sends, by receiver."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, dict[str, str]]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in body["alerts"]:
                    hook.told.append((self.path.strip("/"), alert["status"], alert["labels"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def pages(self, status: str) -> set[tuple[str, str]]:
        """Alert and target of what came to the receiver of pages with this status."""
        return {
            (labels["alertname"], labels["target"])
            for receiver, state, labels in self.told
            if receiver == "pages" and state == status and "target" in labels
        }


def alertmanager_config(folder: Path, hook: str) -> Path:
    """The example's routes, sooner, and every receiver a webhook."""
    config = yaml.safe_load((ROOT / "prometheus" / "alertmanager.yml").read_text())
    for route in (config["route"], *config["route"]["routes"]):
        route |= {"group_wait": "1s", "group_interval": "1s"}
    config["receivers"] = [
        {"name": r["name"], "webhook_configs": [{"url": f"{hook}/{r['name']}", "send_resolved": True}]}
        for r in config["receivers"]
    ]
    path = folder / "alertmanager.yml"
    path.write_text(yaml.safe_dump(config))
    return path


def prometheus_config(folder: Path, exporter: str, alertmanager: str) -> Path:
    for name, content in texts(Pace(PACE)).items():
        (folder / name).write_text(content)
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(folder / name) for name in texts(Pace(PACE))],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": [
            {"job_name": "inference-exporter", "static_configs": [{"targets": [exporter]}]},
        ],
    }
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(config))
    return path


def exporter_config(folder: Path, addresses: dict[str, str]) -> Path:
    sla = {"ttft": {"p99": "500ms"}}
    probe = {"name": "short", "kind": "chat", "params": {"max_tokens": 4}, "sla": sla}
    config = {
        "defaults": {"every": "1s", "timeout": "5s", "confirm": {"every": "1s", "for": "20s"}},
        "web": {"listen": "127.0.0.1:0"},
        "targets": [
            {"name": name, "base_url": f"{address}/v1", "model": "truth", "probes": [probe]}
            for name, address in addresses.items()
        ],
    }
    path = folder / "exporter.yml"
    path.write_text(yaml.safe_dump(config))
    return path


class World:
    """Three targets behind relays, all that watches them, and the questions that a test asks."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        server = stack.enter_context(TruthServer("--ttft-ms", "5", "--itl-ms", "1", "--tokens", "4"))
        self.relays = {name: stack.enter_context(Relay(server.port)) for name in ("good", "outage", "slow")}
        config = exporter_config(folder, {name: relay.url for name, relay in self.relays.items()})
        exporter = stack.enter_context(started("run", "--config", str(config)))
        exporter.wait_until_up()
        self.hook = stack.enter_context(Webhook())
        manager = stack.enter_context(Alertmanager(folder, alertmanager_config(folder, self.hook.url)))
        config = prometheus_config(
            folder, exporter.url.removeprefix("http://"), manager.url.removeprefix("http://")
        )
        self._prometheus = stack.enter_context(Prometheus(folder, config))

    def query(self, expr: str) -> dict[str, float]:
        """The values by target."""
        url = f"{self._prometheus.url}/api/v1/query?{urllib.parse.urlencode({'query': expr})}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            found = json.load(answer)["data"]["result"]
        return {one["metric"].get("target", ""): float(one["value"][1]) for one in found}

    def has_settled(self) -> bool:
        """Whether every target has had some requests in the windows of the rules."""
        seen = self.query("sli:inference_sla_requests:increase1h")
        return seen.keys() == self.relays.keys() and min(seen.values()) > 8


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(stack, tmp_path)


def test_an_outage_and_a_slow_down_page_recover_and_resolve(world: World) -> None:
    hook = world.hook
    until(world.has_settled, PAGE_S)
    assert hook.pages("firing") == set()

    world.relays["outage"].refuse = True
    world.relays["slow"].delay_s = 0.6
    down, slow = ("InferenceTargetDown", "outage"), ("InferenceSLABreach", "slow")
    until(lambda: hook.pages("firing") >= {down, slow}, PAGE_S)

    world.relays["outage"].refuse = False
    world.relays["slow"].delay_s = 0.0
    until(lambda: hook.pages("resolved") >= {down, slow}, PAGE_S)

    assert hook.pages("firing") == {down, slow}, "the outage is one page, and the good target is none"
    confirmed = world.query(f"sum by (target) (max_over_time({CONFIRMATIONS.name}[5m]))")
    assert confirmed["slow"] > 0
    assert confirmed["good"] == 0
