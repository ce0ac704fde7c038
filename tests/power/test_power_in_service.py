"""The real command with a fake driver: scrapes go on, whatever the driver does."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.exporter_process import Exporter, started, total, until
from tests.fakes.nvml.driver import FakeDriver, uuid

pytestmark = pytest.mark.cc
HANG_S = 30.0
CONFIG = """\
web: {listen: '127.0.0.1:0'}
power: {every: 1s, price_per_kwh: 0.25, currency: EUR}
targets:
  - name: local
    base_url: http://127.0.0.1:9/v1
    model: none
    power: {gpus: [GPU-fake0000-0000-0000-0000-000000000000]}
    probes: [{name: short, kind: chat, every: 1s, timeout: 1s}]
"""


@pytest.fixture
def exporter(driver: FakeDriver, tmp_path: Path) -> Iterator[Exporter]:
    driver.set(devices=2, power=350)
    path = tmp_path / "exporter.yml"
    path.write_text(CONFIG)
    with started("run", "--config", str(path), env=driver.environment) as exporter:
        exporter.wait_until_up()
        until(lambda: value(exporter, "inference_gpu_up", 1), 60, lambda: exporter.log)
        yield exporter


def value(exporter: Exporter, name: str, gpu: int) -> float | None:
    return total(exporter.series(), name, uuid=uuid(gpu))


def worker(exporter: Exporter) -> psutil.Process:
    children = psutil.Process(exporter.process.pid).children()
    (found,) = [child for child in children if "exporter.workers.power_worker" in child.cmdline()]
    return found


@pytest.mark.slow
def test_a_call_that_hangs_for_thirty_seconds_hurts_nobody_else(
    exporter: Exporter, driver: FakeDriver
) -> None:
    first = worker(exporter)
    probes_before = total(exporter.series(), "inference_probes_total", target="local") or 0
    driver.put("1.delay_ms.nvmlDeviceGetUtilizationRates", HANG_S * 1000)
    until(lambda: value(exporter, "inference_gpu_up", 1) == 0, 20, lambda: exporter.log)
    driver.put("1.delay_ms.nvmlDeviceGetUtilizationRates", None)
    begin_s = time.monotonic()
    scrapes = 0
    while value(exporter, "inference_gpu_up", 1) == 0:
        series = exporter.series()
        assert total(series, "inference_gpu_power_watts", uuid=uuid(0)) == 350
        assert total(series, "inference_gpu_power_watts", uuid=uuid(1)) is None
        assert total(series, "inference_power_worker_up") == 1
        scrapes += 1
        assert time.monotonic() - begin_s < 2 * HANG_S
        time.sleep(0.1)
    # The hang was a real one, and it was scraped through.
    assert time.monotonic() - begin_s > HANG_S / 2
    assert scrapes > 20
    series = exporter.series()
    assert total(series, "inference_gpu_recoveries_total", uuid=uuid(1)) == 1
    assert total(series, "inference_power_worker_restarts_total") == 0
    probes = (total(series, "inference_probes_total", target="local") or 0) - probes_before
    assert probes > HANG_S / 2
    assert worker(exporter) == first


def test_a_service_that_ends_lets_the_driver_go_and_leaves_nobody_behind(
    exporter: Exporter, driver: FakeDriver
) -> None:
    process = worker(exporter)
    assert exporter.stop() == 0
    assert driver.diary == ["init", "shutdown"]
    assert not process.is_running()


def test_scrapes_are_answered_while_the_worker_dies_again_and_again(exporter: Exporter) -> None:
    statuses: set[int] = set()
    stop = threading.Event()

    def scrape() -> None:
        while not stop.is_set():
            statuses.add(exporter.get("/metrics")[0])

    scraper = threading.Thread(target=scrape)
    scraper.start()
    try:
        for kill in (1, 2):
            worker(exporter).kill()
            until(
                lambda kill=kill: (
                    total(exporter.series(), "inference_power_worker_restarts_total", reason="crashed")
                    == kill
                ),
                30,
                lambda: exporter.log,
            )
            until(lambda: value(exporter, "inference_gpu_up", 0), 30, lambda: exporter.log)
    finally:
        stop.set()
        scraper.join()
    assert statuses == {200}


def test_a_reload_can_switch_sampling_off_and_on_again(exporter: Exporter, tmp_path: Path) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text(CONFIG.replace("{every: 1s, price", "{enabled: false, every: 1s, price"))
    assert exporter.get("/-/reload", method="POST")[0] == 200
    series = exporter.series()
    assert not [name for name, _ in series if name.startswith(("inference_gpu_", "inference_power_"))]
    assert total(series, "inference_target_power_up", target="local") == 0
    path.write_text(CONFIG)
    assert exporter.get("/-/reload", method="POST")[0] == 200
    until(lambda: value(exporter, "inference_gpu_up", 0), 60, lambda: exporter.log)
    assert total(exporter.series(), "inference_target_power_watts", target="local") == 350


@pytest.mark.slow
def test_sampling_one_gpu_a_second_costs_less_than_half_a_percent_of_a_core(
    exporter: Exporter, driver: FakeDriver
) -> None:
    driver.set(devices=1)
    child = worker(exporter)
    until(lambda: value(exporter, "inference_gpu_up", 1) == 0, 30, lambda: exporter.log)
    begin_s, before = time.monotonic(), child.cpu_times()
    time.sleep(20)
    after, seconds = child.cpu_times(), time.monotonic() - begin_s
    spent_s = after.user + after.system - before.user - before.system
    assert spent_s / seconds < 0.005
