"""What load runs and benches need of an energy meter; ``exporter.power.meter`` supplies the real one.

Structural, because the crafts are blind to each other.
"""

from types import TracebackType
from typing import Protocol, Self

from exporter.model.energy import EnergyReading
from exporter.model.power_plan import PowerFrom


class MeteredWindow(Protocol):
    """A window of energy, an async context manager for one use; entering waits for a tick, 0.4 s at most."""

    @property
    def reading(self) -> EnergyReading | None:
        """What the window held; None until it has ended."""

    async def __aenter__(self) -> Self:
        """Begin at the next tick."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, unless that was done or the block raised."""

    async def end(self) -> EnergyReading:
        """End at the next tick, while the load is still on; again, return the same."""


class Metering(Protocol):
    """Opens windows."""

    def window(self, source: PowerFrom) -> MeteredWindow:
        """Return a window on that much of the host; what cannot be read gives a reading that says so."""

    def idle_w(self, source: PowerFrom) -> float | None:
        """Return the watts without load, measured apart; None where that is not known."""
