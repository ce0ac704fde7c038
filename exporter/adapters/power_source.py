"""What every source of power readings has in common, and how the tick of an energy counter is found."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from exporter.model.power import Fault, GpuReading, Source, SourceState, Xid, ZoneReading
from exporter.model.power_protocol import EdgeFound

HUNT_S = 0.35
"""Three ticks of an NVIDIA counter; what has not moved by then moves in no usable way."""
HUNT_STEP_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one source found in one tick."""

    state: SourceState
    gpus: tuple[GpuReading, ...] = ()
    zones: tuple[ZoneReading, ...] = ()
    xids: tuple[Xid, ...] = ()


class PowerSource(Protocol):
    """One way to read power; no method raises because of the device, or blocks longer than a few seconds."""

    def sample(self, *, processes: bool) -> Found:
        """Return what can be read now."""

    def edges(self, meters: Sequence[str]) -> list[EdgeFound]:
        """Return the next tick of those of the counters that are this source's."""

    def close(self) -> None:
        """Let the driver go."""


class Absent:
    """A source that this installation does not have; ``detail`` says what to do about it."""

    def __init__(self, source: Source, detail: str) -> None:
        self._state = SourceState(source=source, fault=Fault.NO_LIBRARY, detail=detail)

    def sample(self, *, processes: bool) -> Found:  # noqa: ARG002 - there is nothing to ask
        """Return why there is nothing."""
        return Found(state=self._state)

    def edges(self, meters: Sequence[str]) -> list[EdgeFound]:  # noqa: ARG002 - it has no meters
        """Return nothing."""
        return []

    def close(self) -> None:
        """Nothing is held open."""


def hunt(
    meter: str,
    read_j: Callable[[], float | None],
    *,
    monotonic_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> EdgeFound:
    """Read a counter until it moves, and return where it is then.

    A counter that moves at every reading has no ticks to wait for.
    """
    begin_s = earlier_s = latest_s = monotonic_s()
    first_j = energy_j = read_j()
    at_s = monotonic_s()
    while first_j is not None and energy_j == first_j and at_s - begin_s < HUNT_S:
        sleep(HUNT_STEP_S)
        earlier_s, latest_s = latest_s, monotonic_s()
        energy_j = read_j()
        at_s = monotonic_s()
    ticked = energy_j is not None and energy_j != first_j
    return EdgeFound(meter=meter, at_s=at_s, within_s=at_s - earlier_s, energy_j=energy_j, ticked=ticked)
