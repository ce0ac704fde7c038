"""Every way in which the driver lets go, appearing and clearing while the service runs."""

import asyncio
import os
import signal

import pytest

from exporter.power import link, service
from tests.fakes.nvml.driver import FakeDriver, uuid
from tests.power.station import Station

pytestmark = pytest.mark.cc
GPU0 = {"uuid": uuid(0)}
GPU1 = {"uuid": uuid(1)}
POWER = "inference_gpu_power_watts"
HEALTH = {
    "inference_gpu_up",
    "inference_gpu_fault",
    "inference_gpu_faults_total",
    "inference_gpu_recoveries_total",
    "inference_gpu_xid_last_timestamp_seconds",
}


def shown(station: Station, gpu: str) -> set[str]:
    """Names of everything that a scrape says about one GPU."""
    return {name for name, labels in station.series if ("uuid", gpu) in labels}


async def loses(station: Station, gpu: int, reason: str) -> None:
    """A GPU is gone for that reason, and its series with it."""
    who = {"uuid": uuid(gpu)}
    await station.until(lambda: station.value("inference_gpu_fault", **who, reason=reason) == 1)
    assert station.value("inference_gpu_up", **who) == 0
    assert station.value("inference_gpu_faults_total", **who, reason=reason) == 1
    assert shown(station, uuid(gpu)) <= HEALTH


async def regains(station: Station, gpu: int, recoveries: int) -> None:
    who = {"uuid": uuid(gpu)}
    await station.until(lambda: station.value("inference_gpu_recoveries_total", **who) == recoveries)
    assert station.value("inference_gpu_up", **who) == 1
    assert station.value(POWER, **who, scope="gpu") is not None


@pytest.mark.parametrize(
    ("key", "code", "reason"),
    [
        pytest.param("1.fail.nvmlDeviceGetFieldValues", 15, "lost", id="it fell off the bus"),
        pytest.param("1.fail.nvmlDeviceGetUUID", 15, "lost", id="it fell off the bus at the first call"),
        pytest.param("1.fail.nvmlDeviceGetMemoryInfo", 16, "reset_required", id="it needs a reset"),
        pytest.param("1.fail.*", 999, "unknown", id="it alone answers Unknown Error"),
        pytest.param("1.fail.nvmlDeviceGetName", 17, "unknown", id="an error that no table has"),
        pytest.param("1.fail.nvmlDeviceGetUUID", 2, "lost", id="its handle is no longer one"),
        pytest.param("1.fail.nvmlDeviceGetUUID", 7, "unknown", id="its answer is of another size"),
        pytest.param("1.uuid", "GPU-another", "lost", id="another board sits in its place"),
    ],
)
async def test_one_gpu_is_lost_and_comes_back_and_the_other_never_blinks(
    station: Station, driver: FakeDriver, key: str, code: object, reason: str
) -> None:
    before_j = station.value("inference_gpu_energy_joules_total", **GPU0, scope="gpu")
    driver.put(key, code)
    await loses(station, 1, reason)
    await station.fresh(5)
    assert station.value("inference_gpu_up", **GPU0) == 1
    assert station.value("inference_power_source_up", source="nvml") == 1
    assert station.value(POWER, **GPU0, scope="gpu") == 350
    after_j = station.value("inference_gpu_energy_joules_total", **GPU0, scope="gpu")
    assert before_j is not None
    assert after_j is not None
    assert after_j > before_j
    driver.put(key, None)
    await regains(station, 1, 1)
    assert station.value("inference_gpu_recoveries_total", **GPU0) == 0
    assert station.value("inference_power_worker_restarts_total", reason="crashed") == 0


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(1, "uninitialized", id="the library forgot that it was initialised"),
        pytest.param(9, "no_driver", id="the kernel module is unloaded"),
        pytest.param(12, "no_library", id="the library cannot find its own parts"),
        pytest.param(999, "unknown", id="the container lost its devices"),
    ],
)
async def test_the_library_is_lost_and_comes_back(
    station: Station, driver: FakeDriver, code: int, reason: str
) -> None:
    driver.put("fail.*", code)
    await station.until(
        lambda: station.value("inference_power_source_fault", source="nvml", reason=reason) == 1
    )
    assert station.value("inference_power_source_up", source="nvml") == 0
    await station.until(lambda: station.value("inference_gpu_up", **GPU0) == 0)
    assert station.all(POWER) == {}
    assert station.value("inference_power_worker_up") == 1
    driver.put("fail.*", None)
    await station.until(lambda: station.value("inference_power_source_up", source="nvml") == 1)
    await regains(station, 0, 1)
    await regains(station, 1, 1)
    assert (station.value("inference_power_source_recoveries_total", source="nvml") or 0) >= 1


async def test_a_library_of_another_version_is_a_matter_for_a_new_process(
    station: Station, driver: FakeDriver
) -> None:
    first = station.power.worker_pid
    driver.put("fail.nvmlDeviceGetMemoryInfo", 18)
    restarts = "inference_power_worker_restarts_total"
    await station.until(lambda: (station.value(restarts, reason="version_mismatch") or 0) >= 2)
    assert station.all(POWER) == {}
    driver.put("fail.nvmlDeviceGetMemoryInfo", None)
    await station.until(lambda: station.value(POWER, **GPU1, scope="gpu") == 350)
    assert station.power.worker_pid != first


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(3, id="not supported"),
        pytest.param(4, id="not permitted"),
        pytest.param(13, id="the driver has no such function"),
        pytest.param(25, id="the driver knows the function in another version"),
    ],
)
async def test_a_call_that_the_driver_does_not_have_costs_its_own_values_only(
    driver: FakeDriver, code: int
) -> None:
    driver.put("fail.nvmlDeviceGetUtilizationRates", code)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.all(POWER))
        assert station.all("inference_gpu_utilization_ratio") == {}
        assert station.value("inference_gpu_up", **GPU0) == 1
        assert station.value("inference_gpu_temperature_celsius", **GPU0) == 41


async def test_a_call_that_hangs_takes_one_gpu_away_until_it_returns(
    station: Station, driver: FakeDriver
) -> None:
    driver.put("1.delay_ms.nvmlDeviceGetTemperature", 5000)
    await loses(station, 1, "hung")
    driver.put("1.delay_ms.nvmlDeviceGetTemperature", None)
    while station.value("inference_gpu_up", **GPU1) == 0:
        assert station.value(POWER, **GPU0, scope="gpu") == 350
        assert station.value("inference_power_worker_up") == 1
        await asyncio.sleep(0.05)
    await regains(station, 1, 1)
    assert station.value("inference_gpu_faults_total", **GPU0, reason="hung") is None


async def test_a_driver_that_hangs_at_the_start_holds_up_nothing(driver: FakeDriver) -> None:
    driver.put("delay_ms.nvmlInitWithFlags", 4000)
    async with Station(driver.environment) as station:
        await station.until(
            lambda: station.value("inference_power_source_fault", source="nvml", reason="hung") == 1
        )
        assert station.value("inference_power_source_fault", source="rapl", reason="no_device") == 1
        driver.put("delay_ms.nvmlInitWithFlags", None)
        await station.until(lambda: station.value(POWER, **GPU0, scope="gpu") is not None)
        # The call that hung succeeded in the end: the library must not stay initialised twice.
        assert driver.diary.count("init") - driver.diary.count("shutdown") == 1


async def test_without_a_driver_there_is_a_reason_and_nothing_else(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async with Station({"LD_LIBRARY_PATH": str(tmp_path)}) as station:
        await station.until(
            lambda: station.value("inference_power_source_fault", source="nvml", reason="no_library") == 1
        )
        assert station.value("inference_power_source_fault", source="amdsmi", reason="no_library") == 1
        assert not any(name.startswith("inference_gpu_") for name, _ in station.series)


@pytest.mark.slow
async def test_gpus_come_and_go(driver: FakeDriver) -> None:
    driver.set(devices=1)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.value("inference_gpu_up", **GPU0) == 1)
        driver.set(devices=2)
        await station.until(lambda: station.value("inference_gpu_up", **GPU1) == 1)
        driver.set(devices=1)
        await loses(station, 1, "lost")
        assert station.value("inference_gpu_up", **GPU0) == 1
        driver.set(devices=2)
        await regains(station, 1, 1)
        assert station.value("inference_power_worker_restarts_total", reason="crashed") == 0


async def test_a_worker_that_is_killed_twenty_times_costs_gaps_only(
    station: Station, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MAX_BACKOFF_S", 0.05)
    energy: list[float] = []

    async def speaks() -> int:
        await station.until(lambda: station.value("inference_power_worker_up") == 1)
        joules = station.value("inference_gpu_energy_joules_total", **GPU0, scope="gpu")
        pid = station.power.worker_pid
        assert joules is not None
        assert pid is not None
        energy.append(joules)
        return pid

    for kill in range(1, 21):
        os.kill(await speaks(), signal.SIGKILL)
        crashed = station.value("inference_power_worker_restarts_total", reason="crashed")
        while crashed != kill:
            await asyncio.sleep(0.01)
            crashed = station.value("inference_power_worker_restarts_total", reason="crashed")
        assert station.value("inference_power_worker_up") in {0, 1}
    await speaks()
    assert energy == sorted(energy)
    assert station.value("inference_gpu_faults_total", **GPU0, reason="worker") == 20
    assert station.value("inference_gpu_recoveries_total", **GPU0) == 20


async def test_nothing_is_shown_of_a_worker_that_is_dead_or_stopped(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "SILENCE_S", 3.0)
    monkeypatch.setattr(service, "STALE_S", 0.5)
    await station.fresh(2)
    pid = station.power.worker_pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    await station.until(lambda: station.value("inference_power_worker_up") == 0)
    assert station.value("inference_power_worker_restarts_total", reason="timeout") == 0
    assert shown(station, uuid(0)) <= HEALTH
    assert shown(station, uuid(0)) >= {"inference_gpu_up", "inference_gpu_fault"}
    assert station.value("inference_gpu_fault", **GPU0, reason="worker") == 1
    assert station.value("inference_power_source_up", source="nvml") == 0
    await station.until(lambda: station.value("inference_power_worker_up") == 1)
    assert station.value("inference_power_worker_restarts_total", reason="timeout") == 1
    assert station.value(POWER, **GPU0, scope="gpu") == 350


async def test_the_worker_lets_the_driver_go_when_the_service_stops(driver: FakeDriver) -> None:
    async with Station(driver.environment) as station:
        await station.until(lambda: station.value("inference_gpu_up", **GPU0) == 1)
        pid = station.power.worker_pid
    assert driver.diary == ["init", "shutdown"]
    assert pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
