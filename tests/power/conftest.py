from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.nvml.driver import FakeDriver, build
from tests.power.station import Station


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fake libnvidia-ml.so.1."""
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def driver(nvml_library: Path, tmp_path: Path) -> FakeDriver:
    """A world with one GPU at 100 W."""
    return FakeDriver(nvml_library, tmp_path)


@pytest.fixture
async def station(driver: FakeDriver) -> AsyncIterator[Station]:
    """Power as the service runs it, sampling ten times a second on two GPUs."""
    driver.set(devices=2, power=350)
    async with Station(driver.environment) as station:
        await station.until(lambda: station.value("inference_power_worker_up") == 1)
        yield station
