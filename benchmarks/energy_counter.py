"""A GPU's energy counter through the driver's own library, without any binding: for machines with torch
alone."""

import asyncio
import ctypes
import os
import time
from typing import Any

from exporter.model.call_energy import EnergyTick

POLL_S = 0.005


class EnergyCounter:
    """Implements ``exporter.kernels.energy.EnergyMeter`` for one GPU."""

    def __init__(self, library: Any, index: int, device: str) -> None:
        self._library = library
        self._device = device
        self._handle = ctypes.c_void_p()
        self.checks: list[tuple[float, float]] = []
        """Watts by the counter and by polled power, for each window."""
        if library.nvmlInit_v2() or library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(self._handle)):
            self._device = ""

    @classmethod
    def of_driver(cls) -> "EnergyCounter | None":
        """Open the GPU that torch calls ``cuda:0``; None without a driver."""
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return None
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        return cls(library, int(first) if first.isdigit() else 0, "cuda:0")

    def covers(self, device: str) -> bool:
        return device == self._device and self._joules() is not None

    async def ticks(self, device: str, seconds: float) -> tuple[EnergyTick, ...]:
        del device
        return await asyncio.to_thread(self._watch, seconds)

    def _watch(self, seconds: float) -> tuple[EnergyTick, ...]:
        ticks: list[EnergyTick] = []
        polled: list[float] = []
        last, end_s = self._joules(), time.monotonic() + seconds
        while (now_s := time.monotonic()) < end_s:
            joules, watts = self._joules(), self._watts()
            if joules is None:
                return ()
            if joules != last:
                ticks.append(EnergyTick(monotonic_s=now_s, joules=joules))
                last = joules
            if watts is not None:
                polled.append(watts)
            time.sleep(POLL_S)
        if len(ticks) > 1 and polled:
            by_counter = (ticks[-1].joules - ticks[0].joules) / (ticks[-1].monotonic_s - ticks[0].monotonic_s)
            self.checks.append((by_counter, sum(polled) / len(polled)))
        return tuple(ticks)

    def _joules(self) -> float | None:
        value = ctypes.c_ulonglong()
        failed = self._library.nvmlDeviceGetTotalEnergyConsumption(self._handle, ctypes.byref(value))
        return None if failed else value.value / 1000

    def _watts(self) -> float | None:
        value = ctypes.c_uint()
        return (
            None
            if self._library.nvmlDeviceGetPowerUsage(self._handle, ctypes.byref(value))
            else value.value / 1000
        )
