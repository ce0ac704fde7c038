"""NVML as a power source: survives whatever the driver does, one GPU at a time."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from exporter.adapters.deadline import LateError, Line
from exporter.adapters.nvml.calls import ENUMERATE_S, DeviceError
from exporter.adapters.nvml.device import Gpu
from exporter.adapters.nvml.errors import Reaction, next_step
from exporter.adapters.nvml.library import Library
from exporter.adapters.power_source import HUNT_S, Found, hunt
from exporter.model.power import Fault, GpuReading, Source, SourceState, Xid
from exporter.model.power_protocol import EdgeFound

DEADLINE_S = 1.0
"""Of one look at one GPU, and of one call about the library; 25 calls take 1 ms."""
MAX_BACKOFF_S = 60.0

_OK = SourceState(source=Source.NVML)


class Nvml:
    """Samples NVIDIA GPUs.  Every device has a thread, so that one that hangs holds up no other."""

    def __init__(
        self, *, monotonic_s: Callable[[], float] = time.monotonic, unix_s: Callable[[], float] = time.time
    ) -> None:
        self._monotonic_s = monotonic_s
        self._library = Library(monotonic_s, unix_s)
        self._driver: Line[dict[str, Gpu] | tuple[Xid, ...] | None] = Line("nvml")
        self._lines: dict[str, Line[GpuReading | EdgeFound]] = {}
        self._gpus: dict[str, Gpu] = {}
        self._state = _OK
        self._is_open = False
        self._retry_at_s = self._enumerate_at_s = 0.0
        self._backoff_s = 0.0

    def sample(self, *, processes: bool) -> Found:
        """Return a reading of every GPU ever seen, with values or with the reason why there are none."""
        self._prepare()
        if not self._is_open:
            return self._found({})
        readings = self._read(processes=processes)
        self._judge(list(readings.values()))
        return self._found(readings)

    def edges(self, meters: Sequence[str]) -> list[EdgeFound]:
        """Return the next tick of each of these GPUs' energy counters; all are waited for at once."""
        hunted = [uuid for uuid in meters if uuid in self._gpus and self._is_open]
        begun = [uuid for uuid in hunted if self._lines[uuid].begin(partial(self._hunt, uuid))]
        until_s = self._monotonic_s() + HUNT_S + DEADLINE_S
        return [self._edge(uuid, until_s) for uuid in begun]

    def close(self) -> None:
        """Shut the library down, unless it hangs."""
        with contextlib.suppress(LateError):
            self._driver.call(self._library.close, DEADLINE_S)
        self._driver.close()
        for line in self._lines.values():
            line.close()

    def _prepare(self) -> None:
        """Initialise when that is due, and look for devices when that is due."""
        now_s = self._monotonic_s()
        if not self._is_open and now_s >= self._retry_at_s:
            self._attempt(self._open_and_list)
        elif self._is_open and now_s >= self._enumerate_at_s:
            self._attempt(partial(self._library.devices, self._gpus))

    def _attempt(self, work: Callable[[], dict[str, Gpu]]) -> None:
        try:
            gpus = self._driver.call(work, DEADLINE_S)
        except LateError:
            # Devices that are known may still answer; without them there is nothing to show.
            if not self._is_open:
                self._state = _state(Fault.HUNG)
        except DeviceError as error:
            self._fail(error)
        else:
            self._adopt(gpus if isinstance(gpus, dict) else {})

    def _open_and_list(self) -> dict[str, Gpu]:
        # First the end of what was: initialisations are counted, and a hung one may have succeeded.
        self._library.close()
        self._library.open()
        return self._library.devices({})

    def _adopt(self, gpus: dict[str, Gpu]) -> None:
        self._is_open = True
        self._gpus = gpus
        for uuid in gpus.keys() - self._lines.keys():
            self._lines[uuid] = Line(uuid)
        self._enumerate_at_s = self._monotonic_s() + ENUMERATE_S

    def _read(self, *, processes: bool) -> dict[str, GpuReading]:
        begun = {
            uuid: self._lines[uuid].begin(partial(gpu.read, processes=processes))
            for uuid, gpu in self._gpus.items()
        }
        until_s = self._monotonic_s() + DEADLINE_S
        return {
            uuid: self._collect(uuid, until_s) if is_begun else self._silent(uuid, Fault.HUNG)
            for uuid, is_begun in begun.items()
        }

    def _collect(self, uuid: str, until_s: float) -> GpuReading:
        try:
            reading = self._lines[uuid].result(until_s)
        except LateError:
            return self._silent(uuid, Fault.HUNG)
        except DeviceError as error:
            if error.reaction in {Reaction.INITIALIZE, Reaction.RESTART}:
                self._fail(error)
            elif error.reaction is Reaction.ENUMERATE:
                self._enumerate_at_s = 0.0
            return self._silent(uuid, error.fault, str(error))
        if not isinstance(reading, GpuReading):
            raise TypeError("a look at a GPU gives a reading")
        return replace(reading, watches_xid=uuid in self._library.watched)

    def _judge(self, readings: list[GpuReading]) -> None:
        """Conclude from the devices how the library is."""
        if not self._is_open:
            return
        faults = {reading.fault for reading in readings}
        if not readings:
            self._state = _state(Fault.NO_DEVICE, "the driver lists no GPU")
        elif None in faults or len(faults) > 1:
            self._state, self._backoff_s = _OK, 0.0
        elif faults == {Fault.UNKNOWN}:
            # All of them at once: the way to the driver is gone, as in a container that lost its devices.
            self._down(Fault.UNKNOWN, "every GPU answers Unknown Error")
        else:
            self._state = _OK if faults != {Fault.HUNG} else _state(Fault.HUNG)

    def _fail(self, error: DeviceError) -> None:
        self._down(error.fault, str(error))

    def _down(self, fault: Fault, detail: str) -> None:
        if self._is_open:
            self._retry_at_s = 0.0
            self._backoff_s = 0.0
        else:
            self._backoff_s = min(MAX_BACKOFF_S, self._backoff_s * 2 or 1.0)
            self._retry_at_s = self._monotonic_s() + self._backoff_s
        self._is_open = False
        self._state = _state(fault, detail)

    def _found(self, readings: dict[str, GpuReading]) -> Found:
        fault = self._state.fault if not self._is_open else None
        missing = [self._silent(uuid, fault or Fault.LOST) for uuid in self._lines.keys() - readings.keys()]
        gpus = [] if fault else list(readings.values())
        missing += [self._silent(uuid, fault) for uuid in readings if fault]
        xids = self._xids() if self._is_open else ()
        return Found(state=self._state, gpus=(*gpus, *missing), xids=xids)

    def _xids(self) -> tuple[Xid, ...]:
        try:
            events = self._driver.call(self._library.xids, DEADLINE_S)
        except LateError:
            return ()
        return events if isinstance(events, tuple) else ()

    def _silent(self, uuid: str, fault: Fault, detail: str = "") -> GpuReading:
        said = detail or next_step(fault)
        return GpuReading(source=Source.NVML, uuid=uuid, at_s=self._monotonic_s(), fault=fault, detail=said)

    def _hunt(self, uuid: str) -> EdgeFound:
        return hunt(uuid, self._gpus[uuid].energy_j, monotonic_s=self._monotonic_s)

    def _edge(self, uuid: str, until_s: float) -> EdgeFound:
        try:
            edge = self._lines[uuid].result(until_s)
        except (LateError, DeviceError):
            edge = None
        if isinstance(edge, EdgeFound):
            return edge
        now_s = self._monotonic_s()
        return EdgeFound(meter=uuid, at_s=now_s, within_s=0.0, energy_j=None, ticked=False)


def _state(fault: Fault, detail: str = "") -> SourceState:
    told = ": ".join(part for part in (detail, next_step(fault)) if part)
    return SourceState(source=Source.NVML, fault=fault, detail=told)
