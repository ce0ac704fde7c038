"""Joules of windows and of the exported counter against the truth of a known power profile."""

import asyncio
import os
import signal
import time
from itertools import pairwise

import pytest

from exporter.model.energy import EnergyReading, Method, Validity
from exporter.model.power_plan import CpuPackages, Gpus, Promql, Watts
from exporter.power import link
from tests.fakes.nvml.driver import FakeDriver, uuid
from tests.power.station import Station

pytestmark = pytest.mark.cc
GPU0 = Gpus(uuids=(uuid(0),))
BOTH = Gpus(uuids=(uuid(0), uuid(1)))
TRIES = 5


class Profile:
    """Steps of power on the monotonic clock, and the joules between two times."""

    def __init__(self, *steps: tuple[float, float]) -> None:
        self._steps = ((0.0, 100.0), *steps)

    def __str__(self) -> str:
        return ",".join(f"{at_s!r}:{watts}" for at_s, watts in self._steps)

    def joules(self, begin_s: float, end_s: float) -> float:
        ends = [*self._steps[1:], (float("inf"), 0.0)]
        return sum(
            watts * max(0.0, min(end_s, next_s) - max(begin_s, at_s))
            for (at_s, watts), (next_s, _) in zip(self._steps, ends, strict=True)
        )


async def valid_window(station: Station, source: Gpus, seconds: float) -> EnergyReading:
    """A window that the meter vouches for; a busy host can spoil one, not all of them."""
    for _ in range(TRIES):
        async with station.power.meter.window(source) as window:
            await asyncio.sleep(seconds)
        assert window.reading is not None
        if window.reading.is_valid:
            return window.reading
        assert window.reading.validity in {Validity.UNALIGNED, Validity.DISAGREES}
    pytest.fail(f"no valid window in {TRIES} tries: {window.reading}")


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0, 5.0])
async def test_a_window_is_within_two_percent_of_the_truth(
    station: Station, driver: FakeDriver, seconds: float
) -> None:
    now_s = time.monotonic()
    # A kernel loop's saw: on and off every 70 ms, which no polling of power follows.
    saw = Profile(*((now_s + 0.07 * i, 700.0 if i % 2 else 300.0) for i in range(50)), (now_s + 3.5, 650.0))
    driver.set(power=str(saw))
    reading = await valid_window(station, GPU0, seconds)
    assert reading.joules is not None
    assert reading.begin_s is not None
    assert reading.end_s is not None
    assert reading.seconds is not None
    truth_j = saw.joules(reading.begin_s, reading.end_s)
    assert reading.joules == pytest.approx(truth_j, rel=0.02)
    assert reading.method is Method.COUNTER
    assert seconds - 0.2 <= reading.seconds
    assert reading.ticks >= 2


async def test_gpus_are_added_up_over_the_time_they_have_in_common(
    station: Station, driver: FakeDriver
) -> None:
    driver.set(_0__power=300, _1__power=500, _1__loaded_at=0.037)
    reading = await valid_window(station, BOTH, 1.0)
    assert reading.watts == pytest.approx(800, rel=0.02)
    assert reading.polled_joules is not None


async def test_a_reading_that_contradicts_the_polled_power_is_not_valid(
    station: Station, driver: FakeDriver
) -> None:
    driver.set(power=300, field__186=600_000)
    await station.until(lambda: station.value("inference_gpu_power_watts", uuid=uuid(0), scope="gpu") == 600)
    async with station.power.meter.window(GPU0) as window:
        await asyncio.sleep(1.5)
    assert window.reading is not None
    assert window.reading.validity is Validity.DISAGREES
    assert window.reading.disagreement == pytest.approx(-0.5, abs=0.1)


async def test_without_a_counter_polled_power_is_what_there_is(driver: FakeDriver) -> None:
    driver.set(power=420, fail__nvmlDeviceGetTotalEnergyConsumption=3)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.all("inference_gpu_power_watts"))
        async with station.power.meter.window(GPU0) as window:
            await asyncio.sleep(2.5)
    assert window.reading is not None
    assert window.reading.method is Method.POWER
    assert window.reading.watts == pytest.approx(420, rel=0.02)
    assert window.reading.validity is Validity.OK


async def test_a_counter_that_stands_still_gives_no_valid_window(driver: FakeDriver) -> None:
    driver.set(energy_mj=5_000_000)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.all("inference_gpu_power_watts"))
        async with station.power.meter.window(GPU0) as window:
            await asyncio.sleep(0.3)
    assert window.reading is not None
    assert window.reading.validity is Validity.TOO_SHORT


async def test_a_driver_reload_in_a_window_spoils_it(station: Station, driver: FakeDriver) -> None:
    async with station.power.meter.window(GPU0) as window:
        await asyncio.sleep(0.3)
        driver.set(loaded_at=time.monotonic())
        await asyncio.sleep(0.5)
    assert window.reading is not None
    assert window.reading.validity is Validity.RESET


async def test_a_worker_that_dies_in_a_window_spoils_it(
    station: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MAX_BACKOFF_S", 0.05)
    async with station.power.meter.window(GPU0) as window:
        pid = station.power.worker_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await station.until(lambda: station.power.worker_pid not in {None, pid})
        await station.until(lambda: station.value("inference_power_worker_up") == 1)
    assert window.reading is not None
    assert window.reading.validity is Validity.GAP
    assert window.reading.joules is None


async def test_a_window_may_be_ended_while_the_load_goes_on_and_says_the_same_again(
    station: Station,
) -> None:
    async with station.power.meter.window(GPU0) as window:
        await asyncio.sleep(0.3)
        reading = await window.end()
        await asyncio.sleep(0.3)
    assert window.reading is reading
    assert await window.end() is reading


async def test_what_cannot_be_metered_says_so(station: Station) -> None:
    meter = station.power.meter
    for source, words in (
        (Gpus(uuids=("GPU-elsewhere",)), "no readings of GPU-elsewhere"),
        (CpuPackages(), "rapl"),
        (Promql(query="up"), "too seldom"),
    ):
        async with meter.window(source) as window:
            pass
        assert window.reading is not None
        assert window.reading.validity is Validity.NO_SOURCE
        assert words in window.reading.detail
        assert window.reading.joules is None
    async with meter.window(Watts(watts=700)) as window:
        await asyncio.sleep(0.1)
    assert window.reading is not None
    assert window.reading.watts == pytest.approx(700)
    assert window.reading.method is Method.DECLARED


async def test_sampling_is_fast_only_while_a_window_is_open(driver: FakeDriver) -> None:
    driver.set(power=300)
    async with Station(driver.environment, every_s=30.0) as station:
        await station.until(lambda: station.all("inference_gpu_power_watts"))
        async with station.power.meter.window(GPU0) as window:
            await asyncio.sleep(1.5)
        assert window.reading is not None
        assert window.reading.polled_joules is not None
        assert window.reading.ticks >= 5


@pytest.mark.slow
async def test_the_exported_counter_is_within_two_percent_over_ten_seconds_of_steps(
    station: Station, driver: FakeDriver
) -> None:
    begin_s = time.monotonic() + 0.5
    levels = (300.0, 700.0, 120.0, 650.0, 90.0)
    profile = Profile(*((begin_s + 2.0 * i, watts) for i, watts in enumerate(levels)))
    driver.set(power=str(profile))

    def joules() -> float:
        return station.value("inference_gpu_energy_joules_total", uuid=uuid(0), scope="gpu") or 0.0

    await asyncio.sleep(0.3)
    seen = [(time.monotonic(), joules())]
    while seen[-1][0] < begin_s + 10.2:
        await asyncio.sleep(0.05)
        seen.append((time.monotonic(), joules()))
    assert all(before[1] <= after[1] for before, after in pairwise(seen))
    (first_s, first_j), (last_s, last_j) = seen[0], seen[-1]
    assert last_j - first_j == pytest.approx(profile.joules(first_s, last_s), rel=0.02)
