"""Intel GPUs."""

import torch

from exporter.model.observation import DeviceFound
from exporter.workers.accelerators.base import Accelerator, Event


class Xpu(Accelerator):
    """Timing events, as on CUDA; who else computes is not told."""

    kind = "xpu"

    def found(self) -> tuple[DeviceFound, ...]:
        """Describe every device that torch can use."""
        if not torch.xpu.is_available():
            return ()
        return tuple(
            DeviceFound(device=f"xpu:{index}", name=torch.xpu.get_device_name(index))
            for index in range(torch.xpu.device_count())
        )

    def wait(self, device: torch.device) -> None:
        """Return when the device is idle."""
        torch.xpu.synchronize(device)

    def event(self, device: torch.device) -> Event | None:
        """Return a timing event on the device's current stream."""
        with torch.xpu.device(device):
            event: Event = torch.xpu.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        return event

    def release(self) -> None:
        """Give cached memory back."""
        torch.xpu.empty_cache()


ACCELERATOR = Xpu()
