"""Power sensors of Linux's hwmon tree: Intel and AMD GPUs without their libraries, Jetson rails, the machine.

Units are those of the kernel's hwmon interface: microwatts, microjoules, millivolts, milliamperes.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.adapters.power_source import Found, hunt
from exporter.model.power import Fault, Scope, Source, SourceState, ZoneReading
from exporter.model.power_protocol import EdgeFound

ROOT = Path("/sys/class/hwmon")
LOOK_AGAIN_S = 60.0
SCOPE_OF_CHIP = {
    "xe": Scope.BOARD,
    "i915": Scope.BOARD,
    "amdgpu": Scope.BOARD,
    "ina3221": Scope.RAIL,
    "power_meter": Scope.MACHINE,
}
"""Drivers whose numbers have a known meaning; other chips are left alone."""
_MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class _Sensor:
    """A power in microwatts, an energy in microjoules, or a voltage and a current."""

    zone: str
    scope: Scope
    power: Path | None = None
    energy: Path | None = None
    voltage: Path | None = None
    current: Path | None = None

    def power_w(self) -> float | None:
        if self.power is not None:
            return _scaled(self.power, 1e-6)
        if self.voltage is None or self.current is None:
            return None
        volts, amperes = _scaled(self.voltage, 1e-3), _scaled(self.current, 1e-3)
        return None if volts is None or amperes is None else volts * amperes

    def energy_j(self) -> float | None:
        return None if self.energy is None else _scaled(self.energy, 1e-6)


class Hwmon:
    """Samples the power sensors that the kernel knows."""

    def __init__(self, root: Path = ROOT, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._monotonic_s = monotonic_s
        self._sensors: tuple[_Sensor, ...] = ()
        self._look_at_s = 0.0

    def sample(self, *, processes: bool) -> Found:  # noqa: ARG002 - a sensor knows no processes
        """Return one reading a sensor that can be read."""
        if self._monotonic_s() >= self._look_at_s:
            self._sensors = tuple(_sensors(self._root))
            self._look_at_s = self._monotonic_s() + LOOK_AGAIN_S
        zones = tuple(self._zones())
        state = SourceState(source=Source.HWMON)
        if not zones:
            detail = f"no power sensor of a known chip under {self._root}"
            state = SourceState(source=Source.HWMON, fault=Fault.NO_DEVICE, detail=detail)
        return Found(state=state, zones=zones)

    def edges(self, meters: Sequence[str]) -> list[EdgeFound]:
        """Return the next tick of each of these sensors' energy counters."""
        return [
            hunt(sensor.zone, sensor.energy_j, monotonic_s=self._monotonic_s)
            for sensor in self._sensors
            if sensor.zone in meters
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _zones(self) -> Iterator[ZoneReading]:
        for sensor in self._sensors:
            power_w, energy_j = sensor.power_w(), sensor.energy_j()
            if power_w is not None or energy_j is not None:
                yield ZoneReading(
                    source=Source.HWMON,
                    zone=sensor.zone,
                    scope=sensor.scope,
                    at_s=self._monotonic_s(),
                    power_w=power_w,
                    energy_j=energy_j,
                )


def _sensors(root: Path) -> Iterator[_Sensor]:
    for folder in sorted(root.glob("hwmon*")):
        chip = _text(folder / "name")
        scope = SCOPE_OF_CHIP.get(chip)
        if scope is None:
            continue
        # The number of a hwmon folder changes from boot to boot, the device's address does not.
        place = f"{chip} {(folder / 'device').resolve().name}"
        for path in sorted(folder.glob("power[0-9]*_average")) + sorted(folder.glob("power[0-9]*_input")):
            if not (path.name.endswith("_input") and path.with_name(_other(path.name)).exists()):
                yield _Sensor(_zone(place, folder, path.name), scope, power=path)
        for path in sorted(folder.glob("energy[0-9]*_input")):
            yield _Sensor(_zone(place, folder, path.name), scope, energy=path)
        if scope is Scope.RAIL:
            yield from _rails(place, folder)


def _rails(place: str, folder: Path) -> Iterator[_Sensor]:
    for path in sorted(folder.glob("curr[0-9]*_input")):
        voltage = folder / path.name.replace("curr", "in")
        if voltage.exists():
            yield _Sensor(_zone(place, folder, voltage.name), Scope.RAIL, voltage=voltage, current=path)


def _zone(place: str, folder: Path, file: str) -> str:
    base = re.sub(r"_(input|average)$", "", file)
    name = f"{place} {_text(folder / f'{base}_label') or base}"
    return "".join(c for c in name if c.isprintable())[:_MAX_NAME]


def _other(file: str) -> str:
    """Return the file with the average of the same sensor: the two would be the same watts twice."""
    return file.replace("_input", "_average")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _scaled(path: Path, factor: float) -> float | None:
    try:
        return int(path.read_text(encoding="ascii")) * factor
    except (OSError, ValueError):
        return None
