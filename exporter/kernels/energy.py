"""What an energy meter has to offer to give energy per call; who measures power supplies one."""

from typing import Protocol

from exporter.model.call_energy import EnergyTick


class EnergyMeter(Protocol):
    """A counter of joules that moves in steps."""

    def covers(self, device: str) -> bool:
        """Tell whether the energy of ``cuda:0`` or another device can be read, the device alone."""

    async def ticks(self, device: str, seconds: float) -> tuple[EnergyTick, ...]:
        """Watch for that long and return every step, by the time when it was seen; empty on any failure.

        Times are those of ``time.monotonic``, which all processes of a machine share.
        """
