"""Apple's GPU."""

import platform

import torch

from exporter.model.observation import DeviceFound
from exporter.workers.accelerators.base import Accelerator, Event


class Mps(Accelerator):
    """One device, timing events, memory shared with the CPU."""

    kind = "mps"

    def found(self) -> tuple[DeviceFound, ...]:
        """Describe the one device, if torch can use it."""
        if not torch.backends.mps.is_available():
            return ()
        name = f"Apple GPU ({platform.processor() or platform.machine()})"
        return (DeviceFound(device="mps", name=name, runtime=f"macOS {platform.mac_ver()[0]}"),)

    def wait(self, device: torch.device) -> None:
        """Return when the device is idle."""
        del device
        torch.mps.synchronize()

    def event(self, device: torch.device) -> Event | None:
        """Return a timing event."""
        del device
        event: Event = torch.mps.Event(enable_timing=True)
        return event

    def release(self) -> None:
        """Give cached memory back."""
        torch.mps.empty_cache()


ACCELERATOR = Mps()
