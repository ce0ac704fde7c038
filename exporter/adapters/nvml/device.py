"""One look at one NVIDIA GPU."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pynvml

from exporter.adapters.nvml import fields
from exporter.adapters.nvml.calls import ALIVE, Calls, DeviceError
from exporter.adapters.nvml.fields import Key
from exporter.model.power import GpuAbout, GpuProcess, GpuReading, Scope, Source, Throttle, Throttled

MHZ = 1e6
KIB = 1024
_AVERAGES_SINCE = (8, 6)
"""Compute capability from which nvmlDeviceGetPowerUsage is a 1 s average; up to GA100 (8.0) it is instant."""
_BITS: Mapping[Throttle, int] = {
    Throttle.IDLE: pynvml.nvmlClocksEventReasonGpuIdle,
    Throttle.APPLICATION_CLOCKS: pynvml.nvmlClocksEventReasonApplicationsClocksSetting,
    Throttle.SW_POWER_CAP: pynvml.nvmlClocksEventReasonSwPowerCap,
    Throttle.HW_SLOWDOWN: pynvml.nvmlClocksEventReasonHwSlowdown,
    Throttle.SYNC_BOOST: pynvml.nvmlClocksEventReasonSyncBoost,
    Throttle.SW_THERMAL: pynvml.nvmlClocksEventReasonSwThermalSlowdown,
    Throttle.HW_THERMAL: pynvml.nvmlClocksEventReasonHwThermalSlowdown,
    Throttle.HW_POWER_BRAKE: pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown,
    Throttle.DISPLAY_CLOCKS: pynvml.nvmlClocksEventReasonDisplayClockSetting,
}


class Gpu:
    """An NVIDIA GPU; each call can hang, so it is used from a thread of its own."""

    def __init__(
        self, uuid: str, index: int, driver: str, calls: Calls, monotonic_s: Callable[[], float]
    ) -> None:
        self.uuid = uuid
        self.calls = calls
        self._index = index
        self._driver = driver
        self._monotonic_s = monotonic_s

    def read(self, *, processes: bool) -> GpuReading:
        """Return everything that the device gives.  Raises DeviceError where it gives nothing at present."""
        get = self.calls.get
        # A device that is gone must not pass for one that supports nothing.
        if get(ALIVE) != self.uuid:
            raise DeviceError(pynvml.NVML_ERROR_INVALID_ARGUMENT, ALIVE)
        energy_j = self.energy_j()
        at_s = self._monotonic_s()
        mig = get("nvmlDeviceGetMigMode")
        memory = get("nvmlDeviceGetMemoryInfo")
        use = get("nvmlDeviceGetUtilizationRates")
        rows = get("nvmlDeviceGetRemappedRows")
        reading = GpuReading(
            source=Source.NVML,
            uuid=self.uuid,
            at_s=at_s,
            about=GpuAbout(
                index=self._index,
                name=str(get("nvmlDeviceGetName") or "unknown"),
                driver=self._driver,
                mig=None if mig is None else bool(mig[0]),
            ),
            energy_j=energy_j,
            power_limit_w=_scaled(get("nvmlDeviceGetEnforcedPowerLimit"), 1e-3),
            default_power_limit_w=_scaled(get("nvmlDeviceGetPowerManagementDefaultLimit"), 1e-3),
            utilization=None if use is None else use.gpu / 100,
            memory_utilization=None if use is None else use.memory / 100,
            memory_used_bytes=None if memory is None else int(memory.used),
            memory_total_bytes=None if memory is None else int(memory.total),
            temperature_c=_scaled(get("nvmlDeviceGetTemperature", pynvml.NVML_TEMPERATURE_GPU), 1.0),
            sm_clock_hz=_scaled(get("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_SM), MHZ),
            memory_clock_hz=_scaled(get("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_MEM), MHZ),
            throttles=_throttles(get("nvmlDeviceGetCurrentClocksEventReasons")),
            ecc_corrected=self._ecc(pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
            ecc_uncorrected=self._ecc(pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
            rows_corrected=None if rows is None else int(rows[0]),
            rows_uncorrected=None if rows is None else int(rows[1]),
            rows_pending=None if rows is None else bool(rows[2]),
            rows_failed=None if rows is None else bool(rows[3]),
            processes=self._processes() if processes else (),
        )
        return self._with_fields(reading)

    def energy_j(self) -> float | None:
        """Return the energy counter; None where the device has none."""
        return _scaled(self.calls.get("nvmlDeviceGetTotalEnergyConsumption"), 1e-3)

    def _with_fields(self, reading: GpuReading) -> GpuReading:
        values = fields.read(self.calls)
        scope, instant_w, average_w = self._power(values)
        is_cut = reading.about is not None and reading.about.mig
        return replace(
            reading,
            scope=Scope.BOARD if is_cut else scope,
            power_w=instant_w,
            average_power_w=average_w,
            memory_temperature_c=_scaled(values.get(fields.MEMORY_TEMPERATURE), 1.0),
            throttled=tuple(
                Throttled(reason=reason, seconds=values[key] / 1e9)
                for reason, key in fields.THROTTLED_NS.items()
                if key in values
            ),
            pcie_sent_bytes=values.get(fields.PCIE_SENT),
            pcie_received_bytes=values.get(fields.PCIE_RECEIVED),
            nvlink_sent_bytes=_times_kib(values.get(fields.NVLINK_SENT_KIB)),
            nvlink_received_bytes=_times_kib(values.get(fields.NVLINK_RECEIVED_KIB)),
        )

    def _power(self, values: Mapping[Key, int]) -> tuple[Scope, float | None, float | None]:
        """Return what the watts cover, the power now, and the averaged power."""
        for number, scope in fields.SCOPES:
            instant = values.get((fields.INSTANT, number))
            average = values.get((fields.AVERAGE, number))
            if instant is not None or average is not None:
                return scope, _scaled(instant, 1e-3), _scaled(average, 1e-3)
        usage_w = _scaled(self.calls.get("nvmlDeviceGetPowerUsage"), 1e-3)
        capability = self.calls.get("nvmlDeviceGetCudaComputeCapability")
        if usage_w is None or capability is None:
            return Scope.GPU, None, None
        if tuple(capability) >= _AVERAGES_SINCE:
            return Scope.GPU, None, usage_w
        return Scope.GPU, usage_w, None

    def _ecc(self, kind: int) -> int | None:
        count = self.calls.get("nvmlDeviceGetTotalEccErrors", kind, pynvml.NVML_VOLATILE_ECC)
        return None if count is None else int(count)

    def _processes(self) -> tuple[GpuProcess, ...]:
        found: list[Any] = self.calls.get("nvmlDeviceGetComputeRunningProcesses_v3") or []
        return tuple(
            GpuProcess(pid=int(process.pid), memory_bytes=int(process.usedGpuMemory))
            for process in found
            if process.usedGpuMemory is not None
        )


def _scaled(value: int | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _times_kib(value: int | None) -> int | None:
    return None if value is None else value * KIB


def _throttles(bits: int | None) -> tuple[Throttle, ...] | None:
    return None if bits is None else tuple(reason for reason, bit in _BITS.items() if bits & bit)
