"""``inference-exporter demo``, as a newcomer runs it: true first numbers, and nothing left behind."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.exporter_process import Exporter, Series, started, total, until

CLOCKS = (
    "inference_probe_time_to_first_token_seconds",
    "inference_probe_inter_token_latency_seconds",
    "inference_probe_time_per_output_token_seconds",
    "inference_probe_duration_seconds",
)


@pytest.fixture(scope="module")
def demo() -> Iterator[Exporter]:
    with started("demo", "--listen", "127.0.0.1:0") as exporter:
        exporter.wait_until_up()
        yield exporter


def when(demo: Exporter, name: str, least: float, **labels: str) -> Series:
    """A scrape in which that total has reached so much."""

    def reached() -> Series | None:
        series = demo.series()
        return series if (total(series, name, **labels) or 0) >= least else None

    return until(reached, 60, lambda: f"{name}{labels} stays below {least}:\n{demo.log}")


def test_probes_grow_and_every_clock_is_observed(demo: Exporter) -> None:
    series = when(demo, "inference_probes_total", 2, target="demo", probe="short")
    assert total(series, "inference_probe_failures_total", target="demo") == 0
    for clock in CLOCKS:
        # Not of every request: on a busy machine some have no exact stamp, and are not observed.
        series = when(demo, f"{clock}_count", 1, target="demo", probe="short")
    ttft_s, e2e_s = (mean(series, CLOCKS[i], target="demo", probe="short") for i in (0, 3))
    assert 0 < ttft_s < e2e_s


def mean(series: Series, name: str, **labels: str) -> float:
    count, summed = (total(series, f"{name}_{part}", **labels) for part in ("count", "sum"))
    assert count
    assert summed
    return summed / count


def test_every_request_is_held_against_every_promise(demo: Exporter) -> None:
    series = when(demo, "inference_probes_total", 2, target="demo", probe="short")
    probes = total(series, "inference_probes_total", target="demo", probe="short")
    for sli in ("ttft_p99", "e2e_p99", "availability"):
        held = total(series, "inference_sla_requests_total", target="demo", probe="short", sli=sli)
        undecided = total(series, "inference_sla_undecided_total", target="demo", probe="short", sli=sli)
        assert held is not None
        assert undecided is not None
        assert held + undecided == probes


def test_stamps_come_from_the_kernel(demo: Exporter) -> None:
    series = when(demo, "inference_probes_total", 1, target="demo", probe="short")
    assert total(series, "inference_probe_kernel_timestamps", target="demo", probe="short") == 1
    assert total(series, "inference_probe_client_lateness_seconds_count")


@pytest.mark.torch
def test_the_bench_reports_and_the_service_never_loads_torch(demo: Exporter) -> None:
    def benched() -> Series | None:
        series = demo.series()
        done = total(series, "inference_kernel_runs_total", suite="light") or 0
        left_out = total(series, "inference_kernel_skipped_total", suite="light") or 0
        return series if done >= 2 or left_out else None

    series = until(benched, 90, lambda: f"no bench and none left out:\n{demo.log}")
    for variant in ("naive", "sdpa") if total(series, "inference_kernel_runs_total", suite="light") else ():
        assert total(series, "inference_kernel_supported") == 1
        article = {"case": "article", "variant": variant, "device": "cpu"}
        assert total(series, "inference_kernel_correct", **article) in {1, None}
        # On a busy machine the right answer is no answer.
        is_valid = total(series, "inference_kernel_valid", **article) == 1
        assert bool(total(series, "inference_kernel_tokens_per_second", **article)) is is_valid
        failures = total(series, "inference_kernel_run_failures_total", suite="light", **article)
        assert bool(failures) is not is_valid
    mapped = (Path("/proc") / str(demo.process.pid) / "maps").read_text()
    assert "python" in mapped
    assert "torch" not in mapped


def test_ready_once_a_probe_has_finished(demo: Exporter) -> None:
    when(demo, "inference_probes_total", 1)
    assert demo.get("/-/ready")[0] == 200
    assert demo.get("/-/healthy")[0] == 200
    assert "/metrics" in demo.get("/")[1]


def children(pid: int) -> list[int]:
    return [int(child) for child in (Path("/proc") / f"{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        state = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    ("number", "status"),
    [
        pytest.param(signal.SIGTERM, 0, id="asked to stop, it exits with 0"),
        pytest.param(signal.SIGINT, 0, id="Ctrl-C is a stop like any other"),
        pytest.param(signal.SIGKILL, -signal.SIGKILL, id="killed"),
    ],
)
def test_no_endpoint_outlives_the_demo(number: signal.Signals, status: int) -> None:
    with started("demo", "--listen", "127.0.0.1:0") as exporter:
        exporter.wait_until_up()
        endpoints = children(exporter.process.pid)
        assert len(endpoints) >= 2
        os.kill(exporter.process.pid, number)
        assert exporter.process.wait(30) == status
        until(lambda: not any(map(is_running, endpoints)), 20, lambda: f"still running: {endpoints}")
