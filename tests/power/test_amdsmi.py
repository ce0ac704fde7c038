"""AMD GPUs against a stand-in for the library, in the shapes that its versions answer in."""

import sys
import time
from types import ModuleType

import pytest

from exporter.adapters import amdsmi as adapter
from exporter.adapters.amdsmi import AmdSmi
from exporter.model.power import Fault

ENERGY = {"energy_accumulator": 2_000_000, "counter_resolution": 15.259, "timestamp": 1}
POWER = {"current_socket_power": 310, "average_socket_power": "N/A", "power_limit": 750_000_000}


class AmdSmiException(Exception):  # noqa: N818 - the library's own name
    pass


def library(**changes: object) -> ModuleType:
    """A module that answers as amdsmi does."""
    answers = {
        "amdsmi_init": None,
        "amdsmi_shut_down": None,
        "amdsmi_get_processor_handles": ["handle"],
        "amdsmi_get_gpu_device_uuid": "a4ff74a1-0000-1000-80c8-e90b0cbd1e1f",
        "amdsmi_get_energy_count": ENERGY,
        "amdsmi_get_power_info": POWER,
        "amdsmi_get_gpu_activity": {"gfx_activity": 42, "umc_activity": "N/A"},
        "amdsmi_get_gpu_vram_usage": {"vram_total": 196592, "vram_used": 1024},
        "amdsmi_get_gpu_asic_info": {"market_name": "AMD Instinct MI300X"},
    } | changes
    module = ModuleType("amdsmi")
    module.AmdSmiException = AmdSmiException  # type: ignore[attr-defined]
    for name, answer in answers.items():
        setattr(module, name, _answering(answer))
    return module


def _answering(answer: object):  # type: ignore[no-untyped-def]
    def call(*_: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer(*_) if callable(answer) else answer

    return call


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def install(**changes: object) -> AmdSmi:
        monkeypatch.setitem(sys.modules, "amdsmi", library(**changes))
        return AmdSmi()

    return install


def test_a_gpu_is_read_and_what_is_not_available_is_absent(installed) -> None:  # type: ignore[no-untyped-def]
    source = installed()
    found = source.sample(processes=False)
    source.close()
    (gpu,) = found.gpus
    assert found.state.fault is None
    assert gpu.uuid == "a4ff74a1-0000-1000-80c8-e90b0cbd1e1f"
    assert gpu.energy_j == pytest.approx(30.518)
    assert (gpu.power_w, gpu.average_power_w, gpu.power_limit_w) == (310, None, None)
    assert (gpu.utilization, gpu.memory_utilization) == (0.42, None)
    assert gpu.memory_used_bytes == 1 << 30
    assert gpu.about is not None
    assert gpu.about.name == "AMD Instinct MI300X"


def test_the_accumulator_had_another_name_once(installed) -> None:  # type: ignore[no-untyped-def]
    source = installed(amdsmi_get_energy_count={"power": 1_000_000, "counter_resolution": 1.0})
    (gpu,) = source.sample(processes=False).gpus
    source.close()
    assert gpu.energy_j == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(AmdSmiException("2"), id="not supported"),
        pytest.param({"energy_accumulator": "N/A", "counter_resolution": "N/A"}, id="not available"),
        pytest.param({"energy_accumulator": 0, "counter_resolution": 15.259}, id="the other half of a board"),
    ],
)
def test_no_counter_is_no_zero_joules(installed, answer: object) -> None:  # type: ignore[no-untyped-def]
    source = installed(amdsmi_get_energy_count=answer)
    (gpu,) = source.sample(processes=False).gpus
    source.close()
    assert gpu.energy_j is None
    assert gpu.fault is None


def test_a_gpu_that_says_nothing_is_down(installed) -> None:  # type: ignore[no-untyped-def]
    failing = AmdSmiException("gone")
    source = installed(amdsmi_get_energy_count=failing, amdsmi_get_power_info=failing)
    (gpu,) = source.sample(processes=False).gpus
    source.close()
    assert gpu.fault is Fault.UNKNOWN


@pytest.mark.parametrize(
    "error", [ImportError("no"), OSError("libamd_smi.so"), AttributeError("x"), KeyError("y")]
)
def test_a_library_that_does_not_load_is_no_library(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(_: str) -> ModuleType:
        raise error

    monkeypatch.setattr(adapter, "import_module", refuse)
    source = AmdSmi()
    assert source.sample(processes=False).state.fault is Fault.NO_LIBRARY
    source.close()


def test_a_driver_that_is_not_there_is_said(installed) -> None:  # type: ignore[no-untyped-def]
    source = installed(amdsmi_init=AmdSmiException("Driver not initialized"))
    state = source.sample(processes=False).state
    source.close()
    assert state.fault is Fault.NO_DRIVER
    assert "Driver not initialized" in state.detail


def test_a_call_that_hangs_is_given_up(installed, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(adapter, "DEADLINE_S", 0.1)
    source = installed(amdsmi_get_power_info=lambda _: time.sleep(1) or POWER)
    assert source.sample(processes=False).state.fault is Fault.HUNG
    assert source.sample(processes=False).state.fault is Fault.HUNG
    source.close()
