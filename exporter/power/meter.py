"""The energy meter: joules of a window of time, for load runs and kernel benches.

::

    async with meter.window(Gpus(uuids=("GPU-...",))) as window:
        ...                 # the load is on already, or starts here
        await window.end()  # while the load is still on; otherwise the end of the block does it
    window.reading          # EnergyReading: joules, seconds, begin_s, end_s, ticks, validity, ...

An energy counter moves every 100 ms or so, so a window goes from one tick to another: entering waits for a
tick and so does ``end``, 100 ms at most for a counter that works.  Count the work that was done between
``reading.begin_s`` and ``reading.end_s``, which are on the host's monotonic clock.
"""

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from exporter.model.energy import EnergyReading, Validity
from exporter.model.energy_window import of_declared, of_meter, together
from exporter.model.power import Snapshot
from exporter.model.power_plan import CpuPackages, Gpus, PowerFrom, Promql, Watts
from exporter.model.power_protocol import EdgeFound
from exporter.power.board import Board
from exporter.power.link import Link

POLL_S = 0.1
"""Pace of full samples while a window is open."""
MAX_POINTS = 36_000
"""An hour of polls; a longer window has no comparison."""


class Window:
    """One window; used as an async context manager, once.  ``reading`` is None until it has ended."""

    def __init__(self, meter: "EnergyMeter", source: PowerFrom) -> None:
        self.reading: EnergyReading | None = None
        self._meter = meter
        self._source = source
        self._meters: tuple[str, ...] = ()
        self._begin: tuple[EdgeFound, ...] = ()
        self._begin_s = 0.0
        self._powers: dict[str, list[tuple[float, float]]] = {}
        self._energies: dict[str, list[tuple[float, float]]] = {}
        self._is_broken = False

    async def __aenter__(self) -> Self:
        self._meters = self._meter.meters_of(self._source)
        self._begin_s = self._meter.monotonic_s()
        if self._meters:
            self._meter.open(self)
            try:
                self._begin = await self._meter.link.edges(self._meters)
            except asyncio.CancelledError:
                self._meter.close(self)
                raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self.end()
        finally:
            self._meter.close(self)

    async def end(self) -> EnergyReading:
        """End the window at the next tick and return what it held; again, return the same."""
        if self.reading is None:
            self.reading = await self._measure()
        return self.reading

    def note(self, snapshot: Snapshot) -> None:
        """Keep what a snapshot says about the meters of this window."""
        gpus = [gpu for gpu in snapshot.gpus if gpu.fault is None]
        values = [(g.uuid, g.at_s, g.comparable_power_w, g.energy_j) for g in gpus]
        values += [(z.zone, z.at_s, z.power_w, z.energy_j) for z in snapshot.zones]
        for meter, at_s, power_w, energy_j in values:
            for course, value in ((self._powers, power_w), (self._energies, energy_j)):
                if meter in self._meters and value is not None:
                    points = course.setdefault(meter, [])
                    if len(points) < MAX_POINTS:
                        points.append((at_s, value))

    def broken(self) -> None:
        """Take note that sampling broke off."""
        self._is_broken = True

    async def _measure(self) -> EnergyReading:
        match self._source:
            case Watts(watts=watts):
                return of_declared(watts, self._begin_s, self._meter.monotonic_s())
            case Promql():
                detail = "the watts of a remote server come too seldom for a window"
                return EnergyReading(validity=Validity.NO_SOURCE, detail=detail)
        if not self._meters:
            return EnergyReading(validity=Validity.NO_SOURCE, detail=self._meter.why_not(self._source))
        end = await self._meter.link.edges(self._meters)
        if self._is_broken or len(self._begin) < len(self._meters) or len(end) < len(self._meters):
            return EnergyReading(validity=Validity.GAP, detail="the sampling process went away in the window")
        return together([self._part(one, other) for one, other in zip(self._begin, end, strict=True)])

    def _part(self, begin: EdgeFound, end: EdgeFound) -> EnergyReading:
        zone = self._meter.board.zone(begin.meter)
        return of_meter(
            begin,
            end,
            powers=self._powers.get(begin.meter, ()),
            energies=self._energies.get(begin.meter, ()),
            wrap_j=None if zone is None else zone.wrap_j,
        )


class EnergyMeter:
    """Opens windows on the local devices."""

    def __init__(
        self,
        link: Link,
        board: Board,
        *,
        hurry: Callable[[bool], None],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """``hurry`` is told True when the first window opens, and False when the last one closes."""
        self.link = link
        self.board = board
        self.monotonic_s = monotonic_s
        self._hurry = hurry
        self._open: set[Window] = set()

    def window(self, source: PowerFrom) -> Window:
        """Return a window on that much of the host; enter it to begin."""
        return Window(self, source)

    def idle_w(self, source: PowerFrom) -> float | None:
        """Return the watts of these GPUs when unused, measured apart; None where that is not known."""
        if not isinstance(source, Gpus):
            return None
        records = [self.board.gpu(uuid) for uuid in source.uuids]
        watts = [None if record is None else record.idle_w for record in records]
        known = [each for each in watts if each is not None]
        return sum(known) if known and len(known) == len(watts) else None

    def meters_of(self, source: PowerFrom) -> tuple[str, ...]:
        """Return the names of the meters that a source is made of; none where one of them cannot be read."""
        match source:
            case Gpus(uuids=uuids):
                records = [self.board.gpu(uuid) for uuid in uuids]
                is_whole = all(record is not None and record.reading is not None for record in records)
                return uuids if is_whole else ()
            case CpuPackages():
                return self.board.packages
            case _:
                return ()

    def why_not(self, source: PowerFrom) -> str:
        """Say why a source has no meters."""
        if isinstance(source, Gpus):
            gone = [u for u in source.uuids if (r := self.board.gpu(u)) is None or r.reading is None]
            return f"no readings of {', '.join(gone) or 'any GPU'}"
        return "no CPU package can be read; the metrics of source rapl say why"

    def open(self, window: Window) -> None:
        """Sample fast from now on."""
        if not self._open:
            self._hurry(True)
        self._open.add(window)

    def close(self, window: Window) -> None:
        """Sample as before when no window is left; safe to call again."""
        if window in self._open:
            self._open.discard(window)
            if not self._open:
                self._hurry(False)

    def note(self, snapshot: Snapshot) -> None:
        """Hand a snapshot to the open windows."""
        for window in self._open:
            window.note(snapshot)

    def broken(self) -> None:
        """Tell the open windows that sampling broke off."""
        for window in self._open:
            window.broken()
