"""Probes of every kind as the service runs them: secrets, floods, target files, budgets."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.e2e.exporter_process import ROOT, Exporter, started, total, until

MARKER = "marker-91b6d40c7a2f4e55"
HEADER_MARKER = "marker-header-0d7c"


class Upstream(BaseHTTPRequestHandler):
    """Answers every path with its own request headers in the error, as careless servers do."""

    inside = 0
    most_inside = 0
    asked = 0
    gate = threading.Lock()

    def do_POST(self) -> None:
        cls = type(self)
        with cls.gate:
            cls.inside += 1
            cls.asked += 1
            cls.most_inside = max(cls.most_inside, cls.inside)
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = json.dumps({"error": {"message": str(dict(self.headers)), "code": MARKER}}).encode()
        with cls.gate:
            cls.inside -= 1
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Echo", MARKER)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def echoing() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    Upstream.most_inside = Upstream.asked = 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join(10)


KINDS = ("chat", "completions", "responses", "embeddings", "rerank", "transcription", "models", "http")


def every_kind(url: str, every: str = "1s") -> str:
    probes = "".join(f"      - {{name: {kind}, kind: {kind}}}\n" for kind in KINDS)
    return (
        f"defaults: {{every: {every}, timeout: 5s}}\nweb: {{listen: '127.0.0.1:0'}}\nstate_file: state.json\n"
        f"targets:\n  - name: echo\n    base_url: {url}\n    model: m\n    api_key_env: E2E_KEY\n"
        "    headers: [{name: X-Gateway-Token, value_env: E2E_HEADER}]\n"
        f"    budget: {{tokens_per_day: 1000000}}\n    probes:\n{probes}"
    )


def test_the_key_is_found_nowhere_whatever_the_kind(echoing: str, tmp_path: Path) -> None:
    config = tmp_path / "c.yml"
    config.write_text(every_kind(echoing))
    env = {"E2E_KEY": MARKER, "E2E_HEADER": HEADER_MARKER}
    with started("run", "--config", str(config), "--log-level", "debug", env=env) as exporter:
        exporter.wait_until_up()

        def all_ended() -> bool:
            series = exporter.series()
            return all((total(series, "inference_probes_total", probe=kind) or 0) > 0 for kind in KINDS)

        until(all_ended, 30, lambda: exporter.log)
        pages = ["/metrics", "/config", "/", "/history"]
        pages += [f"/probe?target=echo&probe={kind}&debug=true" for kind in KINDS]
        texts = [exporter.get(path)[1] for path in pages]
        texts += [exporter.get(f"/history?id={number}")[1] for number in range(1, 9)]
        command = (Path("/proc") / f"{exporter.process.pid}/cmdline").read_text()
        assert exporter.stop() == 0
    state = (tmp_path / "state.json").read_text()
    everything = "".join([*texts, command, state, exporter.log])
    assert all("HTTP 401" in text for text in texts[4:12])
    assert MARKER not in everything
    assert HEADER_MARKER not in everything


def test_the_commands_do_not_show_it_either(echoing: str, tmp_path: Path) -> None:
    config = tmp_path / "c.yml"
    config.write_text(every_kind(echoing))
    env = {**os.environ, "E2E_KEY": MARKER, "E2E_HEADER": HEADER_MARKER}
    for arguments in (["probe", "--config", str(config)], ["probe", "--config", str(config), "--json"]):
        ran = subprocess.run(
            [sys.executable, "-m", "exporter", *arguments],
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1
        assert "auth" in ran.stdout
        assert MARKER not in ran.stdout + ran.stderr
        assert HEADER_MARKER not in ran.stdout + ran.stderr


def lag_above(exporter: Exporter, bound: str) -> tuple[float, float]:
    series = exporter.series()
    count = total(series, "inference_probe_schedule_lag_seconds_count") or 0
    return count, count - (total(series, "inference_probe_schedule_lag_seconds_bucket", le=bound) or 0)


def test_a_flood_neither_delays_the_schedule_nor_floods_the_target(echoing: str, tmp_path: Path) -> None:
    config = tmp_path / "c.yml"
    # The flood's target is hardly on the schedule; ten probes of another show how late it runs.
    config.write_text(
        "web: {listen: '127.0.0.1:0'}\ntargets:\n"
        f"  - {{name: flooded, base_url: {echoing}, model: m,\n"
        "     probes: [{name: p, kind: models, every: 1d}]}\n"
        "  - {name: other, base_url: 'http://127.0.0.1:1/v1', model: m, probes: ["
        + ", ".join(f"{{name: p{n}, kind: models, every: 1s}}" for n in range(10))
        + "]}\n"
    )
    with started("run", "--config", str(config)) as exporter:
        exporter.wait_until_up()
        until(lambda: lag_above(exporter, "0.1")[0] >= 10, 30, lambda: exporter.log)
        before = lag_above(exporter, "0.1")
        with ThreadPoolExecutor(32) as pool:
            statuses = list(pool.map(lambda _: ask(exporter), range(1000)))
        after = lag_above(exporter, "0.1")
    assert statuses.count(200) + statuses.count(0) == 1000
    assert statuses.count(200) > 500
    assert Upstream.most_inside == 1
    assert after[0] > before[0]
    assert after[1] - before[1] <= max(0.01 * (after[0] - before[0]), 1)


def ask(exporter: Exporter) -> int:
    try:
        return exporter.get("/probe?target=flooded")[0]
    except OSError:  # more connections at once than the server takes
        return 0


def test_target_files_come_and_go_while_it_runs(echoing: str, tmp_path: Path) -> None:
    folder = tmp_path / "targets.d"
    folder.mkdir()
    config = tmp_path / "c.yml"
    config.write_text(
        "defaults: {every: 1s, timeout: 5s}\nweb: {listen: '127.0.0.1:0'}\ntarget_files: [targets.d/*.yml]\n"
    )

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text)

    def target(name: str) -> str:
        return f"  - {{name: {name}, base_url: '{echoing}', model: m, probes: [{{name: p, kind: models}}]}}\n"

    write("a.yml", f"targets:\n{target('stays')}{target('goes')}")
    with started("run", "--config", str(config)) as exporter:
        exporter.wait_until_up()

        def probed(name: str) -> float:
            return total(exporter.series(), "inference_probes_total", target=name) or 0

        until(lambda: probed("stays") > 0 and probed("goes") > 0, 30, lambda: exporter.log)
        before = probed("stays")
        write("a.yml", f"targets:\n{target('stays')}")
        write("b.yml", f"targets:\n{target('comes')}  - {{name: half")
        until(
            lambda: total(exporter.series(), "inference_probes_total", target="goes") is None,
            30,
            lambda: exporter.log,
        )
        assert total(exporter.series(), "inference_exporter_target_files_refused") == 1
        assert probed("stays") >= before
        write("b.yml", f"targets:\n{target('comes')}")
        until(lambda: probed("comes") > 0, 30, lambda: exporter.log)
        assert total(exporter.series(), "inference_exporter_target_files_refused") == 0
        assert "b.yml" in exporter.log


def test_a_budget_is_held_before_anything_is_sent(echoing: str, tmp_path: Path) -> None:
    config = tmp_path / "c.yml"
    config.write_text(
        "defaults: {every: 1s, timeout: 5s}\nweb: {listen: '127.0.0.1:0'}\nstate_file: state.json\n"
        "targets:\n  - {name: t, base_url: 'http://127.0.0.1:9/v1', model: m, budget: {tokens_per_day: 10}, "
        "probes: [{name: p, kind: chat}]}\n"
    )
    with started("run", "--config", str(config)) as exporter:
        exporter.wait_until_up()
        missed = until(
            lambda: total(
                exporter.series(), "inference_probes_missed_total", target="t", cause="over_budget"
            ),
            30,
            lambda: exporter.log,
        )
        assert missed >= 1
        assert total(exporter.series(), "inference_budget_limit", target="t", kind="tokens") == 10
        assert total(exporter.series(), "inference_exporter_state_file_usable") == 1
        exporter.process.send_signal(signal.SIGTERM)
        assert exporter.stop() == 0
