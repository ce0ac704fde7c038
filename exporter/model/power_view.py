"""What is known about power at one moment, as the metrics show it.  Whatever is not known now is None."""

from dataclasses import dataclass
from enum import StrEnum

from exporter.model.efficiency import Efficiency
from exporter.model.power import Fault, GpuReading, Scope, Source


class Restart(StrEnum):
    """Why the sampling process was replaced; the source of the label ``reason`` of its restarts."""

    NOT_STARTED = "not_started"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    BAD_OUTPUT = "bad_output"
    VERSION_MISMATCH = "version_mismatch"
    HUNG = "hung"


class Work(StrEnum):
    """Whose tokens an efficiency is about; the source of the label ``work``."""

    PROBES = "probes"
    LOAD = "load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether something gives values, and its past: faults counted by reason, and how often it came back."""

    fault: Fault | None
    faults: tuple[tuple[Fault, int], ...]
    recoveries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """One source."""

    source: Source
    health: Health


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuView:
    """One GPU that was seen since the service started.  ``reading`` is None while it gives no values."""

    uuid: str
    health: Health
    reading: GpuReading | None
    xids: int | None
    """Error events counted; None while they do not reach us."""
    last_xids: tuple[tuple[int, float], ...]
    """Each code seen, and when last, Unix time."""
    idle_w: float | None
    disagreement: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneView:
    """One power zone.  ``energy_j`` counts from when it was first read, wraps undone."""

    source: Source
    zone: str
    scope: Scope
    power_w: float | None
    energy_j: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetView:
    """The power of what serves a target.  ``watts`` is None while it cannot be read."""

    target: str
    model: str
    watts: float | None
    energy_j: float
    """Since the service started, without the time in which nothing could be read."""
    efficiencies: tuple[tuple[Work, Efficiency], ...]
    cost_per_kwh: tuple[float, str] | None
    """Price and currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerView:
    """Everything.  ``sampled_unix_s`` is None until there was a sample."""

    worker_up: bool | None
    """None where sampling is switched off."""
    restarts: tuple[tuple[Restart, int], ...]
    sampled_unix_s: float | None
    sources: tuple[SourceView, ...]
    gpus: tuple[GpuView, ...]
    zones: tuple[ZoneView, ...]
    targets: tuple[TargetView, ...]
