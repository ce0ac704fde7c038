"""What a bench needs of an accelerator's torch backend."""

from collections.abc import Callable
from typing import Any, Protocol

import torch

from exporter.model.observation import DeviceFound

Call = Callable[[], object]


class Event(Protocol):
    """A moment on the device's own clock."""

    def record(self) -> None:
        """Note the moment at which the device has done all that was asked for so far."""

    def elapsed_time(self, end_event: Any) -> Any:
        """Return the milliseconds from this moment to a later one."""


class Accelerator:
    """One kind of device; the defaults fit a backend that offers nothing but to wait.

    ``kind`` is torch's name of it, before the colon.
    """

    kind: str

    def found(self) -> tuple[DeviceFound, ...]:
        """Describe the devices that are here, in torch's order; empty without driver or hardware."""
        return ()

    def wait(self, device: torch.device) -> None:
        """Return when the device has done all that was asked for."""
        del device

    def event(self, device: torch.device) -> Event | None:
        """Return a new event; None where the device has none, and wall time around a wait is used."""
        del device
        return None

    def cache_bytes(self, device: torch.device) -> int:
        """Return the size of the last-level cache; 0: not known, or none to clear."""
        del device
        return 0

    def free_bytes(self, device: torch.device) -> int | None:
        """Return the memory that can be allocated; None: not known."""
        del device
        return None

    def graph(self, call: Call, device: torch.device) -> Call | None:
        """Return a replay of the call that launches all its kernels at once; None where that is not
        possible."""
        del call, device
        return None

    def release(self) -> None:
        """Give unused memory back to the device, where others may want it."""

    def lowered(self, device: torch.device) -> Callable[[], tuple[str, ...]]:
        """Begin to watch the clock; the result says for which reasons it was lowered since."""
        del device
        return tuple

    def others(self, device: torch.device) -> int | None:
        """Return how many other processes compute on the device; None: not known."""
        del device
        return None
