"""What is remembered of calls that a device does not support."""

import pynvml
import pytest

from exporter.adapters.nvml.calls import ALIVE, ASK_AGAIN_S, ENUMERATE_S, Calls, DeviceError
from exporter.adapters.nvml.errors import Reaction, fault, reaction
from exporter.model.power import Fault


class Driver:
    """One function that answers with an error code, or with 7."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.code = 0
        self.asked = 0
        self.now_s = 0.0
        monkeypatch.setattr(pynvml, "nvmlDeviceGetFanSpeed", self._answer)
        self.calls = Calls("handle", lambda: self.now_s)

    def _answer(self, handle: str) -> int:
        assert handle == "handle"
        self.asked += 1
        if self.code:
            raise pynvml.NVMLError(self.code)
        return 7

    def get(self) -> object:
        return self.calls.get("nvmlDeviceGetFanSpeed")


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return Driver(monkeypatch)


def test_what_is_not_supported_is_asked_for_again_in_an_hour(driver: Driver) -> None:
    driver.code = pynvml.NVML_ERROR_NOT_SUPPORTED
    assert [driver.get() for _ in range(5)] == [None] * 5
    assert driver.asked == 1
    driver.code, driver.now_s = 0, ASK_AGAIN_S - 1
    assert driver.get() is None
    driver.now_s = ASK_AGAIN_S
    assert driver.get() == 7


def test_what_the_driver_has_no_function_for_is_never_asked_for_again(driver: Driver) -> None:
    driver.code = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    assert driver.get() is None
    driver.code, driver.now_s = 0, 1e9
    assert driver.get() is None
    assert driver.asked == 1


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_INVALID_ARGUMENT, pynvml.NVML_ERROR_INSUFFICIENT_SIZE])
def test_a_device_set_that_changed_costs_the_value_until_it_is_listed_again(
    driver: Driver, code: int
) -> None:
    driver.code = code
    assert driver.get() is None
    driver.code, driver.now_s = 0, ENUMERATE_S - 1
    assert driver.get() is None
    driver.now_s = ENUMERATE_S
    assert driver.get() == 7


@pytest.mark.parametrize(
    ("code", "what_to_do", "reason"),
    [
        (pynvml.NVML_ERROR_INVALID_ARGUMENT, Reaction.ENUMERATE, Fault.LOST),
        (pynvml.NVML_ERROR_INSUFFICIENT_SIZE, Reaction.ENUMERATE, Fault.UNKNOWN),
    ],
)
def test_a_device_that_no_longer_knows_itself_is_gone(
    monkeypatch: pytest.MonkeyPatch, code: int, what_to_do: Reaction, reason: Fault
) -> None:
    def refuse(_: str) -> str:
        raise pynvml.NVMLError(code)

    monkeypatch.setattr(pynvml, ALIVE, refuse)
    with pytest.raises(DeviceError) as raised:
        Calls("handle", lambda: 0.0).get(ALIVE)
    assert (raised.value.reaction, raised.value.fault) == (what_to_do, reason)


@pytest.mark.parametrize(
    ("code", "what_to_do", "reason"),
    [
        (pynvml.NVML_ERROR_UNINITIALIZED, Reaction.INITIALIZE, Fault.UNINITIALIZED),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, Reaction.INITIALIZE, Fault.NO_DRIVER),
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, Reaction.INITIALIZE, Fault.NO_LIBRARY),
        (pynvml.NVML_ERROR_GPU_IS_LOST, Reaction.DEVICE, Fault.LOST),
        (pynvml.NVML_ERROR_RESET_REQUIRED, Reaction.DEVICE, Fault.RESET_REQUIRED),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, Reaction.RESTART, Fault.VERSION_MISMATCH),
        (pynvml.NVML_ERROR_UNKNOWN, Reaction.DEVICE, Fault.UNKNOWN),
        (4711, Reaction.DEVICE, Fault.UNKNOWN),
    ],
)
def test_every_other_error_is_raised_with_what_to_do_about_it(
    driver: Driver, code: int, what_to_do: Reaction, reason: Fault
) -> None:
    driver.code = code
    with pytest.raises(DeviceError) as raised:
        driver.get()
    assert raised.value.reaction is what_to_do is reaction(code)
    assert raised.value.fault is reason is fault(code)
    assert "nvmlDeviceGetFanSpeed" in str(raised.value)
