"""The meter of a command that measures once."""

import asyncio
import os
from functools import partial

import pytest

from exporter.adapters.child import start_child
from exporter.model.energy import Validity
from exporter.model.power_plan import Gpus
from exporter.power.link import WORKER
from exporter.power.standalone import local_meter
from tests.fakes.nvml.driver import FakeDriver, uuid
from tests.power.station import ROOT

pytestmark = pytest.mark.cc


async def test_a_command_meters_and_leaves_nobody_behind(driver: FakeDriver) -> None:
    driver.set(power=250)
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]} | driver.environment
    start = partial(start_child, WORKER, str(os.getpid()), environment=environment)
    async with local_meter(start) as meter:
        async with meter.window(Gpus(uuids=(uuid(0),))) as window:
            await asyncio.sleep(1.5)
        async with meter.window(Gpus(uuids=("GPU-elsewhere",))) as other:
            pass
    assert window.reading is not None
    assert window.reading.joules is not None
    assert window.reading.watts == pytest.approx(250, rel=0.05)
    assert other.reading is not None
    assert other.reading.validity is Validity.NO_SOURCE
    assert driver.diary == ["init", "shutdown"]
