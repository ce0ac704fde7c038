"""Clocks: CPU time of this process, or events on an accelerator with its cache cleared before each call."""

import resource
import time
from dataclasses import dataclass, field

import torch

from exporter.model.observation import TimeSource
from exporter.workers.accelerators.base import Accelerator, Call

GRAPH_BELOW_S = 50e-6
"""A call that is over this fast is mostly the launch of its kernels."""


@dataclass
class Times:
    """Seconds of each repeat by each clock."""

    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    device_s: list[float] = field(default_factory=list)
    preemptions: list[int] = field(default_factory=list)


class CpuWatch:
    """Times calls on the CPU."""

    def __init__(self, threads: int) -> None:
        self.source = TimeSource.PROCESS_CPU if threads == 1 else TimeSource.WALL

    def prepare(self, call: Call) -> tuple[Call, bool]:
        """Return what is to be timed, and whether it is a graph; here the call itself."""
        return call, False

    def time(self, call: Call, times: Times) -> None:
        """Add one repeat."""
        taken, wall, cpu = _preemptions(), time.perf_counter(), time.process_time()
        call()
        cpu_end, wall_end = time.process_time(), time.perf_counter()
        times.wall_s.append(wall_end - wall)
        times.cpu_s.append(cpu_end - cpu)
        if taken is not None:
            times.preemptions.append((_preemptions() or 0) - taken)


class DeviceWatch:
    """Times calls on an accelerator.

    Twice the last-level cache is overwritten before each call, so that none finds its data there; meanwhile
    the call's kernels are launched.  The first event comes after that, so clearing is never in the time.
    """

    def __init__(self, accelerator: Accelerator, device: torch.device) -> None:
        self._accelerator = accelerator
        self._device = device
        size = 2 * accelerator.cache_bytes(device)
        self._flush = torch.empty(size, dtype=torch.int8, device=device) if size else None
        has_events = accelerator.event(device) is not None
        self.source = TimeSource.DEVICE_EVENTS if has_events else TimeSource.WALL

    def prepare(self, call: Call) -> tuple[Call, bool]:
        """Return a graph of a short call where there are graphs, else the call itself."""
        times = Times()
        for _ in range(2):
            self.time(call, times)
        if self.source is TimeSource.DEVICE_EVENTS and times.device_s[-1] < GRAPH_BELOW_S:
            replay = self._accelerator.graph(call, self._device)
            if replay is not None:
                return replay, True
        return call, False

    def time(self, call: Call, times: Times) -> None:
        """Add one repeat."""
        start, end = self._accelerator.event(self._device), self._accelerator.event(self._device)
        self._accelerator.wait(self._device)
        if self._flush is not None:
            self._flush.zero_()
        if start is None or end is None:
            self._accelerator.wait(self._device)
        wall, cpu = time.perf_counter(), time.process_time()
        if start is not None:
            start.record()
        call()
        if end is not None:
            end.record()
        self._accelerator.wait(self._device)
        times.wall_s.append(time.perf_counter() - wall)
        times.cpu_s.append(time.process_time() - cpu)
        if start is not None and end is not None:
            times.device_s.append(start.elapsed_time(end) / 1000)


Watch = CpuWatch | DeviceWatch


def _preemptions() -> int | None:
    """Count how often the kernel took the CPU away from this thread; None where it does not say."""
    if not hasattr(resource, "RUSAGE_THREAD"):
        return None
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
