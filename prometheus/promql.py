"""The words that expressions are made of: windows, label lists, names of recorded series."""

import re
from dataclasses import dataclass

from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Family

PROBE = ", ".join(WHO)
SLI = f"{PROBE}, sli"
PROCESS = "job, instance"

_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(window: str) -> int:
    """Return the length of a window such as ``15m``.  Raises ValueError for anything else."""
    match = re.fullmatch(r"(\d+)([smhdw])", window)
    if match is None:
        raise ValueError(f"{window} is no window; write a number and one of s, m, h, d, w")
    return int(match[1]) * _UNIT_S[match[2]]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the time of the rules runs: 1 in production, more to see a day's alert within a test."""

    times: float = 1.0

    def of(self, window: str) -> str:
        """Return the window as it stands in an expression."""
        return window if self.times == 1 else f"{max(round(seconds(window) * 1000 / self.times), 1)}ms"

    def seconds(self, window: str) -> str:
        """Return the window as a number of seconds for an expression."""
        return f"{seconds(window) / self.times:g}"

    def interval(self, window: str) -> str:
        """Return the interval of a group, at least a second."""
        return window if self.times == 1 else f"{max(round(seconds(window) / self.times), 1)}s"


def base(family: Family) -> str:
    """Return the family's name as it stands in the middle of a recorded name."""
    return family.name.removesuffix("_total")


def recorded(level: str, family: Family, operation: str) -> str:
    """Return the name of a recorded series: level:metric:operation."""
    return f"{level}:{base(family)}:{operation}"


def at_least(count: int) -> float:
    """Return what an increase, which Prometheus extrapolates, must exceed to mean this many events."""
    return count - 0.5
