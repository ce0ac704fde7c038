"""What an NVIDIA driver says of a GPU around a bench: who else computes, and whether its clock was lowered.

Read-only, and only what is asked for one device by its UUID.  Called in the kernel worker, since a driver
call can hang.  A value that the driver, the card or a container withholds is None or empty, never a guess.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_REASONS = {74: "power_cap", 269: "thermal", 270: "hardware_thermal", 271: "power_brake"}
"""Field numbers of nvml.h that count the nanoseconds of each reason to slow down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """One look at a GPU."""

    other_processes: int | None = None
    """Processes with a compute context on it, without our own."""
    lowered_ns: Mapping[str, int] | None = None
    """By reason, how long its clock has been lowered since the driver was loaded; None: not told."""
    power_limit_w: float | None = None
    driver: str = ""


NOTHING = GpuState()


def look(uuid: str, nvml: ModuleType | None = None) -> GpuState:
    """Look at the GPU with this UUID (``GPU-...``); ``nvml`` is the binding, imported when not given."""
    binding: Any = nvml or _binding()
    if binding is None:
        return NOTHING
    try:
        with _session(binding):
            handle = binding.nvmlDeviceGetHandleByUUID(uuid)
            return GpuState(
                other_processes=_told(binding, lambda: _others(binding, handle)),
                lowered_ns=_told(binding, lambda: _lowered(binding, handle)),
                power_limit_w=_told(binding, lambda: binding.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000),
                driver=_told(binding, lambda: _text(binding.nvmlSystemGetDriverVersion())) or "",
            )
    except binding.NVMLError:
        return NOTHING


def lowered_between(before: GpuState, after: GpuState) -> tuple[str, ...]:
    """Name the reasons for which the clock was lowered between two looks."""
    if before.lowered_ns is None or after.lowered_ns is None:
        return ()
    return tuple(name for name, ns in after.lowered_ns.items() if ns > before.lowered_ns.get(name, ns))


def _binding() -> Any:
    try:
        import pynvml  # noqa: PLC0415 - the exporter runs where the driver's binding is not installed
    except ImportError:
        return None
    return pynvml


@contextmanager
def _session(binding: Any) -> Iterator[None]:
    binding.nvmlInit()
    try:
        yield
    finally:
        binding.nvmlShutdown()


def _told(binding: Any, ask: Any) -> Any:
    try:
        return ask()
    except binding.NVMLError:
        return None


def _others(binding: Any, handle: Any) -> int | None:
    pids = {process.pid for process in binding.nvmlDeviceGetComputeRunningProcesses(handle)}
    # In a container the driver gives the host's process ids, among which our own cannot be found.
    return len(pids - {os.getpid()}) if os.getpid() in pids or not pids or _sees_host() else None


def _sees_host() -> bool:
    """Tell whether process ids here are the host's: process 2 is the kernel's thread daemon there."""
    try:
        with open("/proc/2/comm", encoding="utf-8") as name:  # noqa: PTH123 - one word
            return name.read().strip() == "kthreadd"
    except OSError:
        return False


def _lowered(binding: Any, handle: Any) -> dict[str, int] | None:
    values = binding.nvmlDeviceGetFieldValues(handle, list(_REASONS))
    # Each field has a status of its own: the call as a whole succeeds.
    told = {_REASONS[v.fieldId]: int(v.value.ullVal) for v in values if v.nvmlReturn == 0}
    return told or None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
