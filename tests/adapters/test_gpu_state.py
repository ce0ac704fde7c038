"""A driver's binding that answers as it is told."""

import os
import types

import pytest

from exporter.adapters import gpu_state
from exporter.adapters.gpu_state import GpuState, look, lowered_between

OWN, OTHER = os.getpid(), 2**22 + 7


class NVMLError(Exception):
    pass


def refuse(*arguments):
    raise NVMLError("Not Supported")


def field(number, ns, status=0):
    return types.SimpleNamespace(fieldId=number, nvmlReturn=status, value=types.SimpleNamespace(ullVal=ns))


def nvml(*, pids=(OWN, OTHER), **changes):
    calls = []
    plain = {
        "NVMLError": NVMLError,
        "nvmlInit": lambda: calls.append("init"),
        "nvmlShutdown": lambda: calls.append("shutdown"),
        "nvmlDeviceGetHandleByUUID": lambda uuid: uuid,
        "nvmlDeviceGetComputeRunningProcesses": lambda h: [types.SimpleNamespace(pid=p) for p in pids],
        "nvmlDeviceGetFieldValues": lambda h, f: [field(74, 10), field(269, 20), field(270, 0, status=3)],
        "nvmlDeviceGetEnforcedPowerLimit": lambda h: 350_000,
        "nvmlSystemGetDriverVersion": lambda: b"570.86",
    }
    return types.SimpleNamespace(**plain | changes), calls


def test_a_look_has_others_limits_and_reasons_and_leaves_the_driver_closed():
    binding, calls = nvml()
    state = look("GPU-1", binding)
    assert state.other_processes == 1
    assert state.power_limit_w == 350.0
    assert state.driver == "570.86"
    assert state.lowered_ns == {"power_cap": 10, "thermal": 20}
    assert calls == ["init", "shutdown"]


@pytest.mark.parametrize(
    ("name", "field_of_state", "value"),
    [
        ("nvmlDeviceGetComputeRunningProcesses", "other_processes", None),
        ("nvmlDeviceGetFieldValues", "lowered_ns", None),
        ("nvmlDeviceGetEnforcedPowerLimit", "power_limit_w", None),
        ("nvmlSystemGetDriverVersion", "driver", ""),
    ],
)
def test_what_the_driver_withholds_is_not_known_and_the_rest_is(name, field_of_state, value):
    binding, _ = nvml(**{name: refuse})
    state = look("GPU-1", binding)
    assert getattr(state, field_of_state) == value
    assert state != GpuState()


@pytest.mark.parametrize("name", ["nvmlInit", "nvmlDeviceGetHandleByUUID"])
def test_a_driver_that_does_not_know_the_device_knows_nothing(name):
    binding, _ = nvml(**{name: refuse})
    assert look("GPU-1", binding) == GpuState()


@pytest.mark.parametrize(
    ("pids", "sees_host", "others"),
    [
        pytest.param((OWN,), False, 0, id="we alone"),
        pytest.param((), False, 0, id="nobody"),
        pytest.param((OTHER,), True, 1, id="another, seen from the host"),
        pytest.param((OTHER,), False, None, id="a host's number in a container may be our own"),
    ],
)
def test_who_else_computes(monkeypatch, pids, sees_host, others):
    monkeypatch.setattr(gpu_state, "_sees_host", lambda: sees_host)
    binding, _ = nvml(pids=pids)
    assert look("GPU-1", binding).other_processes == others


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        ({"thermal": 5, "power_cap": 7}, {"thermal": 5, "power_cap": 9}, ("power_cap",)),
        ({"thermal": 5}, {"thermal": 5}, ()),
        (None, {"thermal": 5}, ()),
        ({}, {"thermal": 5}, ()),
    ],
)
def test_only_what_grew_in_between_is_a_reason(before, after, reasons):
    assert lowered_between(GpuState(lowered_ns=before), GpuState(lowered_ns=after)) == reasons
