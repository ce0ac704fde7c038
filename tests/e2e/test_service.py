"""``inference-exporter run``: configuration, reload, stop, and what goes wrong at the start."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.exporter_process import ROOT, Exporter, Series, started, total, until

MARKER = "marker-7f3a9c51d2e84b60"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The base URL of a real endpoint that asks for the key."""
    process = subprocess.Popen(
        [sys.executable, "-m", "exporter.demo", "--api-key-env", "E2E_KEY"],
        cwd=ROOT,
        env={"E2E_KEY": MARKER},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        yield process.stdout.readline().split('"')[3]
        process.terminate()
        process.wait(20)


def config(*targets: tuple[str, str], every: str = "1s") -> str:
    lines = [f"defaults: {{every: {every}, timeout: 5s}}", "web: {listen: '127.0.0.1:0'}", "targets:"]
    for name, url in targets:
        lines += [
            f"  - name: {name}",
            f"    base_url: {url}",
            "    model: demo-random-weights",
            "    api_key_env: E2E_KEY",
            "    probes:",
            "      - {name: short, kind: chat, params: {max_tokens: 4}, sla: {availability: 99%}}",
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def running(endpoint: str, tmp_path: Path) -> Iterator[tuple[Exporter, Path]]:
    path = tmp_path / "exporter.yml"
    path.write_text(config(("a", endpoint), ("b", endpoint)))
    with started("run", "--config", str(path), "--log-level", "debug", env={"E2E_KEY": MARKER}) as exporter:
        exporter.wait_until_up()
        yield exporter, path


def probes(series: Series, target: str) -> float:
    return total(series, "inference_probes_total", target=target) or 0


def after_probes(exporter: Exporter, target: str, least: float) -> Series:
    def reached() -> Series | None:
        series = exporter.series()
        return series if probes(series, target) >= least else None

    return until(reached, 30, lambda: f"fewer than {least} probes of {target}:\n{exporter.log}")


def test_a_reload_forgets_the_departed_and_keeps_the_others_counters(
    running: tuple[Exporter, Path], endpoint: str
) -> None:
    exporter, path = running
    before = after_probes(exporter, "a", 2)
    after_probes(exporter, "b", 1)
    path.write_text(config(("a", endpoint), ("c", endpoint)))
    status, text = exporter.get("/-/reload", method="POST")
    assert (status, "probes added: 1" in text, "targets departed: 1" in text) == (200, True, True)
    series = after_probes(exporter, "c", 1)
    assert not [labels for _, labels in series if ("target", "b") in labels]
    assert probes(series, "a") >= probes(before, "a")
    assert total(series, "inference_probe_failures_total", target="c", reason="dns") == 0


def test_a_bad_file_keeps_the_old_configuration_and_says_why(
    running: tuple[Exporter, Path], endpoint: str
) -> None:
    exporter, path = running
    path.write_text(config(("a", endpoint)).replace("base_url", "base_ulr"))
    status, text = exporter.get("/-/reload", method="POST")
    assert status == 400
    assert "base_ulr" in text
    assert "base_url" in text
    series = exporter.series()
    assert total(series, "inference_exporter_config_last_reload_successful") == 0
    until(lambda: "base_ulr" in exporter.log, 10, lambda: exporter.log)
    reached = probes(series, "b")
    after_probes(exporter, "b", reached + 1)
    path.write_text(config(("a", endpoint), ("b", endpoint)))
    exporter.process.send_signal(signal.SIGHUP)
    until(
        lambda: total(exporter.series(), "inference_exporter_config_last_reload_successful") == 1,
        10,
        lambda: exporter.log,
    )


def test_the_key_is_found_nowhere(running: tuple[Exporter, Path]) -> None:
    exporter, _ = running
    series = after_probes(exporter, "a", 2)
    assert total(series, "inference_probe_failures_total", target="a") == 0
    pages = "".join(exporter.get(path)[1] for path in ("/metrics", "/config", "/", "/-/ready"))
    command_line = (Path("/proc") / f"{exporter.process.pid}/cmdline").read_text()
    assert exporter.stop() == 0
    assert MARKER not in pages + exporter.log + command_line


def test_a_wrong_key_is_a_failure_and_a_breach_with_its_reason(endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text(config(("a", endpoint)))
    with started("run", "--config", str(path), env={"E2E_KEY": "wrong"}) as exporter:
        exporter.wait_until_up()
        series = after_probes(exporter, "a", 1)
    failures = total(series, "inference_probe_failures_total", target="a", reason="auth")
    assert failures == probes(series, "a")
    assert total(series, "inference_sla_breaches_total", target="a") == failures
    assert total(series, "inference_sla_breach_runs_total", target="a") == 1


def test_the_environment_alone_names_a_target(endpoint: str) -> None:
    env = {"OPENAI_BASE_URL": endpoint, "OPENAI_MODEL": "demo-random-weights", "OPENAI_API_KEY": MARKER}
    with started("run", "--listen", "127.0.0.1:0", env=env) as exporter:
        exporter.wait_until_up()
        series = after_probes(exporter, "env", 1)
        assert total(series, "inference_probe_failures_total", target="env") == 0


def test_without_config_or_environment_it_says_what_to_set() -> None:
    with started("run", env={"OPENAI_BASE_URL": "", "OPENAI_MODEL": ""}) as exporter:
        assert exporter.process.wait(30) == 1
        assert exporter.stop() == 1
        assert "OPENAI_BASE_URL" in exporter.log
        assert "--config" in exporter.log
        assert "Traceback" not in exporter.log


def test_a_taken_address_ends_the_start_with_the_next_step(endpoint: str, tmp_path: Path) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text(config(("a", endpoint)))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with started("run", "--config", str(path), "--listen", address) as exporter:
            assert exporter.process.wait(30) == 1
            assert exporter.stop() == 1
            assert address in exporter.log
            assert "--listen" in exporter.log
            assert "Traceback" not in exporter.log
