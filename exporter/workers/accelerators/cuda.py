"""NVIDIA GPUs, and AMD's through ROCm, which torch calls ``cuda`` too."""

import gc
from collections.abc import Callable

import torch

from exporter.adapters.gpu_state import GpuState, look, lowered_between
from exporter.model.observation import DeviceFound
from exporter.workers.accelerators.base import Accelerator, Call, Event

_WARM_UP = 3


class Cuda(Accelerator):
    """Events, graphs and the size of the L2 cache come from torch; the rest from the driver."""

    kind = "cuda"

    def found(self) -> tuple[DeviceFound, ...]:
        """Describe every GPU that torch can use."""
        if not torch.cuda.is_available():
            return ()
        return tuple(_describe(index) for index in range(torch.cuda.device_count()))

    def wait(self, device: torch.device) -> None:
        """Return when the GPU is idle."""
        torch.cuda.synchronize(device)

    def event(self, device: torch.device) -> Event | None:
        """Return a timing event on the device's current stream."""
        with torch.cuda.device(device):
            event: Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        return event

    def cache_bytes(self, device: torch.device) -> int:
        """Return the size of the L2 cache."""
        return int(getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0))

    def free_bytes(self, device: torch.device) -> int | None:
        """Return what the driver has left, and what torch keeps unused."""
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)

    def graph(self, call: Call, device: torch.device) -> Call | None:
        """Record the call once; some calls cannot be recorded."""
        try:
            with torch.cuda.device(device):
                side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    for _ in range(_WARM_UP):
                        call()
                torch.cuda.current_stream().wait_stream(side)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    call()
        except RuntimeError:
            torch.cuda.synchronize(device)
            return None
        replay: Call = graph.replay
        return replay

    def release(self) -> None:
        """Give cached memory back."""
        gc.collect()
        torch.cuda.empty_cache()

    def lowered(self, device: torch.device) -> Callable[[], tuple[str, ...]]:
        """Compare the driver's counters of each reason."""
        before = _state(device.index or 0)
        return lambda: lowered_between(before, _state(device.index or 0))

    def others(self, device: torch.device) -> int | None:
        """Count the driver's compute processes."""
        return _state(device.index or 0).other_processes


def _state(index: int) -> GpuState:
    uuid = str(getattr(torch.cuda.get_device_properties(index), "uuid", ""))
    return look(uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}")


def _describe(index: int) -> DeviceFound:
    name, state = torch.cuda.get_device_name(index), _state(index)
    return DeviceFound(
        device=f"cuda:{index}",
        name=name,
        driver=state.driver,
        runtime=f"CUDA {torch.version.cuda}" if torch.version.cuda else f"ROCm {torch.version.hip}",
        power_limit_w=state.power_limit_w,
        partition=" MIG " in name,
        other_processes=state.other_processes,
    )


ACCELERATOR = Cuda()
