"""AMD GPUs through ``amdsmi``, where ROCm installed it; tested against a stand-in module only.

Only what keeps its meaning over the library's versions is read: UUID, name, energy counter, socket power,
use, memory.  Limits are left out, because their unit changed between versions.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from exporter.adapters.deadline import LateError, Line
from exporter.adapters.power_source import HUNT_S, Found, hunt
from exporter.model.power import Fault, GpuAbout, GpuReading, Source, SourceState
from exporter.model.power_protocol import EdgeFound

DEADLINE_S = 1.0
RETRY_S = 60.0
MIB = 1 << 20


class AmdSmi:
    """Samples AMD GPUs.  All calls are made on one thread; when one hangs, all of them are hung."""

    def __init__(self, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._line: Line[Found | list[EdgeFound]] = Line("amdsmi")
        self._library: ModuleType | None = None
        self._devices: dict[str, Any] = {}
        self._state = SourceState(source=Source.AMDSMI)
        self._retry_at_s = 0.0

    def sample(self, *, processes: bool) -> Found:  # noqa: ARG002 - not read here
        """Return a reading of every AMD GPU."""
        if self._library is None and self._monotonic_s() < self._retry_at_s:
            return Found(state=self._state)
        try:
            found = self._line.call(self._sample, DEADLINE_S)
        except LateError:
            return Found(state=SourceState(source=Source.AMDSMI, fault=Fault.HUNG))
        if not isinstance(found, Found):
            raise TypeError("a sample is what was found")
        return found

    def edges(self, meters: Sequence[str]) -> list[EdgeFound]:
        """Return the next tick of each of these GPUs' energy counters, one after the other."""
        wanted = [uuid for uuid in meters if uuid in self._devices]
        try:
            found = self._line.call(
                lambda: [hunt(uuid, partial(self._energy_j, uuid)) for uuid in wanted],
                DEADLINE_S + HUNT_S * len(wanted),
            )
        except LateError:
            return []
        return found if isinstance(found, list) else []

    def close(self) -> None:
        """Shut the library down, unless it hangs."""
        if self._library is not None and not self._line.is_busy:
            self._ask("amdsmi_shut_down")
        self._line.close()

    def _sample(self) -> Found:
        if self._library is None:
            self._open()
        return Found(state=self._state, gpus=tuple(self._read(uuid) for uuid in self._devices))

    def _open(self) -> None:
        self._retry_at_s = self._monotonic_s() + RETRY_S
        try:
            library = import_module("amdsmi")
        except (ImportError, OSError, AttributeError, KeyError):
            # Without ROCm its import fails in each of these ways.
            detail = "the Python package amdsmi of ROCm is not installed or does not load"
            self._state = SourceState(source=Source.AMDSMI, fault=Fault.NO_LIBRARY, detail=detail)
            return
        try:
            library.amdsmi_init()
            handles = library.amdsmi_get_processor_handles()
            self._devices = {str(library.amdsmi_get_gpu_device_uuid(handle)): handle for handle in handles}
        except library.AmdSmiException as error:
            detail = f"amdsmi: {' '.join(str(error).split())}"[:200]
            self._state = SourceState(source=Source.AMDSMI, fault=Fault.NO_DRIVER, detail=detail)
            return
        self._library = library
        fault = None if self._devices else Fault.NO_DEVICE
        self._state = SourceState(source=Source.AMDSMI, fault=fault)

    def _read(self, uuid: str) -> GpuReading:
        energy_j = self._energy_j(uuid)
        at_s = self._monotonic_s()
        power = self._ask("amdsmi_get_power_info", uuid)
        use = self._ask("amdsmi_get_gpu_activity", uuid)
        memory = self._ask("amdsmi_get_gpu_vram_usage", uuid)
        chip = self._ask("amdsmi_get_gpu_asic_info", uuid)
        is_silent = energy_j is None and not power
        used, total = _number(memory, "vram_used"), _number(memory, "vram_total")
        index = list(self._devices).index(uuid)
        return GpuReading(
            source=Source.AMDSMI,
            uuid=uuid,
            at_s=at_s,
            fault=Fault.UNKNOWN if is_silent else None,
            about=GpuAbout(
                index=index, name=str(chip.get("market_name", "unknown")), driver="amdgpu", mig=None
            ),
            power_w=_number(power, "current_socket_power"),
            average_power_w=_number(power, "average_socket_power"),
            energy_j=energy_j,
            utilization=_ratio(use, "gfx_activity"),
            memory_utilization=_ratio(use, "umc_activity"),
            memory_used_bytes=None if used is None else int(used * MIB),
            memory_total_bytes=None if total is None else int(total * MIB),
        )

    def _energy_j(self, uuid: str) -> float | None:
        answer = self._ask("amdsmi_get_energy_count", uuid)
        # The accumulator was called power before 6.2.1; its unit is the resolution, in microjoules.
        count = _number(answer, "energy_accumulator")
        count = _number(answer, "power") if count is None else count
        resolution = _number(answer, "counter_resolution")
        return None if not count or not resolution else count * resolution / 1e6

    def _ask(self, name: str, uuid: str | None = None) -> dict[str, Any]:
        """Return the answer to one question, or nothing where there is none."""
        library = self._library
        if library is None:
            return {}
        try:
            answer = getattr(library, name)(*(() if uuid is None else (self._devices[uuid],)))
        except (library.AmdSmiException, AttributeError):
            return {}
        return answer if isinstance(answer, dict) else {}


def _number(answer: dict[str, Any], key: str) -> float | None:
    """Return a number of an answer; what is not known is the text "N/A" there."""
    value = answer.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _ratio(answer: dict[str, Any], key: str) -> float | None:
    percent = _number(answer, key)
    return None if percent is None else percent / 100
