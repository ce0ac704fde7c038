"""The library as a whole: initialise, list the devices, collect error events."""

import ctypes
from collections.abc import Callable
from typing import Any

import pynvml

from exporter.adapters.nvml.calls import Calls, DeviceError
from exporter.adapters.nvml.device import Gpu
from exporter.adapters.nvml.errors import Reaction, reaction
from exporter.model.power import Xid

MAX_EVENTS = 64
"""Collected at once; a device in an error storm must not hold up the samples."""
WAIT_MS = 1


class Library:
    """NVML's calls that are about no single device; each can hang."""

    def __init__(self, monotonic_s: Callable[[], float], unix_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._events: Any | None = None
        self._watched: frozenset[str] = frozenset()

    @property
    def watched(self) -> frozenset[str]:
        """UUIDs of the devices whose error events reach us."""
        return self._watched

    def open(self) -> None:
        """Initialise.  Raises DeviceError."""
        _checked("nvmlInit")
        self._events = None
        self._watched = frozenset()

    def close(self) -> None:
        """Shut down; whatever goes wrong then matters to nobody."""
        try:
            if self._events is not None:
                pynvml.nvmlEventSetFree(self._events)
            pynvml.nvmlShutdown()
        except pynvml.NVMLError:
            pass
        self._events = None
        self._watched = frozenset()

    def devices(self, known: dict[str, Gpu]) -> dict[str, Gpu]:
        """Return the GPUs that there are by UUID; those known with the same handle stay the same objects.

        A device that is lost has no UUID and is not in it.  Raises DeviceError where none can be listed.
        """
        driver = str(_checked("nvmlSystemGetDriverVersion"))
        found: dict[str, Gpu] = {}
        for index in range(int(_checked("nvmlDeviceGetCount"))):
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
                uuid = str(pynvml.nvmlDeviceGetUUID(handle))
            except pynvml.NVMLError as error:
                if reaction(error.value) in {Reaction.INITIALIZE, Reaction.RESTART}:
                    raise DeviceError(error.value, "nvmlDeviceGetHandleByIndex") from error
                continue
            old = known.get(uuid)
            is_same = old is not None and _address(old.calls.handle) == _address(handle)
            calls = old.calls if old is not None and is_same else Calls(handle, self._monotonic_s)
            found[uuid] = Gpu(uuid, index, driver, calls, self._monotonic_s)
        self._watch(found)
        return found

    def xids(self) -> tuple[Xid, ...]:
        """Return the error events since the last call."""
        found: list[Xid] = []
        while self._events is not None and len(found) < MAX_EVENTS:
            try:
                event = pynvml.nvmlEventSetWait_v2(self._events, WAIT_MS)
                uuid = str(pynvml.nvmlDeviceGetUUID(event.device))
            except pynvml.NVMLError:
                # Its usual answer is a timeout; what else it says, the devices say themselves.
                break
            found.append(Xid(uuid=uuid, code=int(event.eventData), unix_s=self._unix_s()))
        return tuple(found)

    def _watch(self, devices: dict[str, Gpu]) -> None:
        """Have error events of new devices sent to us; where that is not possible, there are none."""
        for uuid in devices.keys() - self._watched:
            try:
                if self._events is None:
                    self._events = pynvml.nvmlEventSetCreate()
                pynvml.nvmlDeviceRegisterEvents(
                    devices[uuid].calls.handle, pynvml.nvmlEventTypeXidCriticalError, self._events
                )
            except pynvml.NVMLError:
                continue
            self._watched |= {uuid}
        self._watched &= devices.keys()


def _address(handle: Any) -> int | None:
    """Return what a handle points to; the Python object around it is a new one at each call."""
    return ctypes.cast(handle, ctypes.c_void_p).value


def _checked(name: str) -> Any:
    try:
        return getattr(pynvml, name)()
    except pynvml.NVMLError as error:
        raise DeviceError(error.value, name) from error
