"""CPU package energy from Linux's powercap tree (RAPL), on Intel and on AMD Zen."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from exporter.adapters.power_source import Found, hunt
from exporter.model.power import Fault, Scope, Source, SourceState, ZoneReading
from exporter.model.power_protocol import EdgeFound

ROOT = Path("/sys/class/powercap")
LOOK_AGAIN_S = 60.0
# Only the control type itself: "intel-rapl-mmio:0" is the same package by another way, and "intel-rapl:0:0"
# (cores, memory) lies inside "intel-rapl:0".
_TOP_ZONE = re.compile(r"intel-rapl:[0-9]+")
_PACKAGE = re.compile(r"package-[0-9]+(-die-[0-9]+)?")
_NO_TREE = "no CPU package under {root}: virtual machines and most containers have none"
_NO_PERMISSION = (
    "{path} is readable by root only (Linux 5.10 and later, CVE-2020-8694); "
    "run as root, or give this user read permission on it"
)


@dataclass(frozen=True, slots=True)
class _Zone:
    name: str
    counter: Path
    wrap_j: float | None


class Rapl:
    """Samples the energy of every CPU package."""

    def __init__(self, root: Path = ROOT, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._monotonic_s = monotonic_s
        self._zones: tuple[_Zone, ...] = ()
        self._look_at_s = 0.0

    def sample(self, *, processes: bool) -> Found:  # noqa: ARG002 - a package knows no processes
        """Return one reading a package that can be read."""
        if self._monotonic_s() >= self._look_at_s:
            self._zones = tuple(_zones(self._root))
            self._look_at_s = self._monotonic_s() + LOOK_AGAIN_S
        state = SourceState(source=Source.RAPL)
        if not self._zones:
            detail = _NO_TREE.format(root=self._root)
            state = SourceState(source=Source.RAPL, fault=Fault.NO_DEVICE, detail=detail)
        readings = []
        for zone in self._zones:
            try:
                energy_j = _micro(zone.counter)
            except (OSError, ValueError) as error:
                state = _unreadable(zone.counter, error)
                continue
            readings.append(
                ZoneReading(
                    source=Source.RAPL,
                    zone=zone.name,
                    scope=Scope.CPU_PACKAGE,
                    at_s=self._monotonic_s(),
                    energy_j=energy_j,
                    wrap_j=zone.wrap_j,
                )
            )
        return Found(state=state, zones=tuple(readings))

    def edges(self, meters: Sequence[str]) -> list[EdgeFound]:
        """Return the next tick of each of these packages; it comes within a millisecond."""
        return [
            hunt(zone.name, partial(_micro_or_none, zone.counter), monotonic_s=self._monotonic_s)
            for zone in self._zones
            if zone.name in meters
        ]

    def close(self) -> None:
        """Nothing is held open."""


def _zones(root: Path) -> list[_Zone]:
    found: dict[str, _Zone] = {}
    for folder in sorted(root.glob("intel-rapl:*")):
        if not _TOP_ZONE.fullmatch(folder.name):
            continue
        try:
            name = (folder / "name").read_text(encoding="ascii").strip()
            wrap_j = _micro_or_none(folder / "max_energy_range_uj")
        except (OSError, ValueError):
            continue
        if _PACKAGE.fullmatch(name):
            found.setdefault(name, _Zone(name, folder / "energy_uj", wrap_j))
    return list(found.values())


def _micro(path: Path) -> float:
    return int(path.read_text(encoding="ascii")) / 1e6


def _micro_or_none(path: Path) -> float | None:
    try:
        return _micro(path)
    except (OSError, ValueError):
        return None


def _unreadable(path: Path, error: OSError | ValueError) -> SourceState:
    if isinstance(error, PermissionError):
        detail = _NO_PERMISSION.format(path=path)
        return SourceState(source=Source.RAPL, fault=Fault.NO_PERMISSION, detail=detail)
    return SourceState(source=Source.RAPL, fault=Fault.UNKNOWN, detail=f"{path}: {error}")
