"""Calls on one device that remember what the device does not support."""

import math
from collections.abc import Callable
from typing import Any

import pynvml

from exporter.adapters.nvml.errors import Reaction, fault, reaction
from exporter.model.power import Fault

ALIVE = "nvmlDeviceGetUUID"
"""The call that tells a device that is gone from one that does not know a value."""
ASK_AGAIN_S = 3600.0
"""A driver upgrade or a changed mode can bring a value that was not supported."""
ENUMERATE_S = 10.0
"""How long a GPU that came, left or came back goes unnoticed."""


class DeviceError(Exception):
    """The device, or the whole library, gives nothing at present."""

    def __init__(self, code: int, call: str) -> None:
        super().__init__(f"{call}: error {code}")
        self.reaction: Reaction = reaction(code)
        self.fault: Fault = fault(code)


class Calls:
    """The functions of NVML applied to one device."""

    def __init__(self, handle: Any, monotonic_s: Callable[[], float]) -> None:
        self.handle = handle
        self._monotonic_s = monotonic_s
        self._skip_until_s: dict[object, float] = {}

    def get(self, name: str, *arguments: object) -> Any | None:
        """Return what ``pynvml.<name>(device, ...)`` returns; None where it is not supported.

        Raises DeviceError for every error that is not about this one value.
        """
        key = (name, arguments)
        if self.skips(key):
            return None
        try:
            return getattr(pynvml, name)(self.handle, *arguments)
        except pynvml.NVMLError as error:
            self.note(key, error.value, name)
            return None

    def skips(self, key: object) -> bool:
        """Tell whether a value is known not to be supported."""
        return self._skip_until_s.get(key, -math.inf) > self._monotonic_s()

    def note(self, key: object, code: int, name: str) -> None:
        """Remember that a value is not supported.  Raises DeviceError for every other error."""
        match reaction(code):
            case Reaction.SKIP:
                self._skip_until_s[key] = self._monotonic_s() + ASK_AGAIN_S
            case Reaction.NEVER:
                self._skip_until_s[key] = math.inf
            case Reaction.ENUMERATE if name != ALIVE:
                # The devices are listed again soon; a driver that means the value must not cost the device.
                self._skip_until_s[key] = self._monotonic_s() + ENUMERATE_S
            case _:
                raise DeviceError(code, name)
