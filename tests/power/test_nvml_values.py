"""What the worker reads from the driver through the real binding, as a scrape shows it."""

import time
from itertools import pairwise

import pytest

from tests.fakes.nvml.driver import FakeDriver, uuid
from tests.power.station import Station

pytestmark = pytest.mark.cc
GPU0 = {"uuid": uuid(0)}
GPU1 = {"uuid": uuid(1)}


async def test_every_value_has_its_series_and_its_unit(driver: FakeDriver) -> None:
    driver.set(
        devices=2,
        _1__power=412.5,
        temp=61,
        sm_clock=1755,
        util_gpu=37,
        util_mem=12,
        limit_mw=650000,
        default_limit_mw=700000,
        ecc_corr=3,
        ecc_uncorr=1,
        remapped="2:1:1:0",
        reasons=0x24,
        field__82=88,
        field__197=123456789012,
        field__198=5,
        field__138=10,
        field__139=20,
        field__74=1_500_000_000,
        field__269=2_500_000_000,
    )
    async with Station(driver.environment) as station:
        await station.until(lambda: station.all("inference_gpu_power_watts"))
        for name, value in {
            "inference_gpu_up": 1,
            "inference_gpu_power_limit_watts": 650,
            "inference_gpu_power_default_limit_watts": 700,
            "inference_gpu_utilization_ratio": 0.37,
            "inference_gpu_memory_utilization_ratio": 0.12,
            "inference_gpu_memory_used_bytes": 1073741824,
            "inference_gpu_memory_total_bytes": 85899345920,
            "inference_gpu_memory_temperature_celsius": 88,
            "inference_gpu_row_remap_pending": 1,
            "inference_gpu_row_remap_failed": 0,
            "inference_gpu_xid_errors_total": 0,
        }.items():
            assert station.value(name, **GPU1) == value, name
        for name, labels, value in (
            ("inference_gpu_power_watts", {"scope": "gpu"}, 412.5),
            ("inference_gpu_clock_hertz", {"domain": "sm"}, 1755e6),
            ("inference_gpu_clock_hertz", {"domain": "memory"}, 2619e6),
            ("inference_gpu_throttle_active", {"reason": "sw_power_cap"}, 1),
            ("inference_gpu_throttle_active", {"reason": "sw_thermal"}, 1),
            ("inference_gpu_throttle_active", {"reason": "hw_thermal"}, 0),
            ("inference_gpu_throttle_seconds_total", {"reason": "sw_power_cap"}, 1.5),
            ("inference_gpu_throttle_seconds_total", {"reason": "sw_thermal"}, 2.5),
            ("inference_gpu_ecc_errors_total", {"kind": "corrected"}, 3),
            ("inference_gpu_ecc_errors_total", {"kind": "uncorrected"}, 1),
            ("inference_gpu_remapped_rows", {"kind": "corrected"}, 2),
            ("inference_gpu_remapped_rows", {"kind": "uncorrected"}, 1),
            ("inference_gpu_pcie_bytes_total", {"direction": "sent"}, 123456789012),
            ("inference_gpu_pcie_bytes_total", {"direction": "received"}, 5),
            ("inference_gpu_nvlink_bytes_total", {"direction": "sent"}, 10240),
            ("inference_gpu_nvlink_bytes_total", {"direction": "received"}, 20480),
        ):
            assert station.value(name, **GPU1, **labels) == value, (name, labels)
        info = {"gpu": "1", "gpu_name": "NVIDIA H100 80GB HBM3", "driver_version": "580.95.05", "mig": "off"}
        assert station.value("inference_gpu_info", **GPU1, **info) == 1
        assert station.value("inference_power_source_up", source="nvml") == 1
        assert station.all("inference_gpu_process_memory_bytes") == {}


async def test_what_is_not_supported_is_absent_and_never_zero(station: Station, driver: FakeDriver) -> None:
    assert station.all("inference_gpu_throttle_seconds_total") == {}
    assert station.all("inference_gpu_nvlink_bytes_total") == {}
    assert station.all("inference_gpu_memory_temperature_celsius") == {}
    names = ("nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetMemoryInfo")
    for name in names:
        driver.put(f"1.fail.{name}", 3)
    await station.until(lambda: station.value("inference_gpu_memory_used_bytes", **GPU1) is None)
    assert station.value("inference_gpu_energy_joules_total", **GPU1, scope="gpu") is None
    assert station.value("inference_gpu_energy_joules_total", **GPU0, scope="gpu") is not None
    assert station.value("inference_gpu_ecc_errors_total", **GPU1, kind="corrected") is None
    assert station.value("inference_gpu_power_watts", **GPU1, scope="gpu") == 350
    assert station.value("inference_gpu_up", **GPU1) == 1


async def test_instant_and_average_power_are_never_mixed_up(station: Station, driver: FakeDriver) -> None:
    def now_and_average() -> tuple[float, float]:
        return (
            station.value("inference_gpu_power_watts", **GPU0, scope="gpu") or 0,
            station.value("inference_gpu_power_average_watts", **GPU0, scope="gpu") or 0,
        )

    step_s = time.monotonic() + 0.5
    driver.set(power=f"0:300,{step_s}:700")
    await station.until(lambda: now_and_average()[0] == 700)
    assert 300 <= now_and_average()[1] < 700
    await station.until(lambda: now_and_average() == (700, 700))


@pytest.mark.parametrize(
    ("major", "minor", "shown", "hidden"),
    [
        pytest.param(8, 6, "inference_gpu_power_average_watts", "inference_gpu_power_watts", id="GA102"),
        pytest.param(8, 0, "inference_gpu_power_watts", "inference_gpu_power_average_watts", id="GA100"),
        pytest.param(7, 0, "inference_gpu_power_watts", "inference_gpu_power_average_watts", id="V100"),
    ],
)
async def test_without_power_fields_the_generation_says_what_the_one_number_is(
    driver: FakeDriver, major: int, minor: int, shown: str, hidden: str
) -> None:
    driver.set(cc_major=major, cc_minor=minor, power=120, fail__field__185=3, fail__field__186=3)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.value(shown, **GPU0, scope="gpu") == 120)
        assert station.all(hidden) == {}


async def test_a_superchip_answers_for_the_module(driver: FakeDriver) -> None:
    driver.set(field__186=500000, field__185=480000, field_scope__186=1, field_scope__185=1)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.all("inference_gpu_power_watts"))
        assert station.value("inference_gpu_power_watts", **GPU0, scope="module") == 500
        assert station.value("inference_gpu_power_watts", **GPU0, scope="gpu") is None
        assert station.value("inference_gpu_power_average_watts", **GPU0, scope="module") == 480
        # The counter is the GPU's alone, and not to be compared with the module's watts.
        assert station.value("inference_gpu_energy_joules_total", **GPU0, scope="gpu") is not None


async def test_a_board_that_is_cut_into_slices_has_its_watts_once(driver: FakeDriver) -> None:
    driver.set(mig=1, power=400, fail__nvmlDeviceGetUtilizationRates=3)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.all("inference_gpu_power_watts"))
        assert len(station.all("inference_gpu_power_watts")) == 1
        assert station.value("inference_gpu_power_watts", **GPU0, scope="board") == 400
        assert len(station.all("inference_gpu_energy_joules_total")) == 1
        assert station.all("inference_gpu_utilization_ratio") == {}


async def test_processes_are_shown_when_asked_for(driver: FakeDriver) -> None:
    driver.set(processes=f"4242:536870912,4343:{2**64 - 1}")
    async with Station(driver.environment, processes=True) as station:
        await station.until(lambda: station.all("inference_gpu_process_memory_bytes"))
        shown = station.all("inference_gpu_process_memory_bytes")
        assert shown == {frozenset({("uuid", uuid(0)), ("pid", "4242")}): 536870912}


async def test_the_energy_counter_falls_with_the_driver_and_only_then(driver: FakeDriver) -> None:
    driver.set(power=100, loaded_at=time.monotonic() - 1000)
    seen: list[float] = []
    async with Station(driver.environment) as station:

        def joules() -> float:
            value = station.value("inference_gpu_energy_joules_total", **GPU0, scope="gpu")
            if value is not None and (not seen or value != seen[-1]):
                seen.append(value)
            return seen[-1] if seen else 0.0

        await station.until(lambda: joules() >= 100_050)
        driver.set(loaded_at=time.monotonic())
        await station.until(lambda: joules() < 1000)
        await station.until(lambda: joules() > 100)
    falls = [b - a for a, b in pairwise(seen) if b < a]
    assert len(falls) == 1


async def test_error_events_are_counted_and_dated(station: Station, driver: FakeDriver) -> None:
    await station.until(lambda: station.value("inference_gpu_xid_errors_total", **GPU1) == 0)
    before_s = time.time()
    driver.set(xid="1:1:79")
    await station.until(lambda: station.value("inference_gpu_xid_errors_total", **GPU1) == 1)
    driver.set(xid="2:1:79")
    await station.until(lambda: station.value("inference_gpu_xid_errors_total", **GPU1) == 2)
    driver.set(xid="3:1:48")
    await station.until(lambda: station.value("inference_gpu_xid_errors_total", **GPU1) == 3)
    stamps = station.all("inference_gpu_xid_last_timestamp_seconds")
    assert {dict(labels)["xid"] for labels in stamps} == {"79", "48"}
    assert all(value >= before_s - 1 for value in stamps.values())
    assert station.value("inference_gpu_xid_errors_total", **GPU0) == 0
