"""The checked configuration as the rest of the service sees it."""

from dataclasses import dataclass, field

from exporter.model.load_plan import LoadPlan
from exporter.model.load_result import Pricing
from exporter.model.power_plan import PowerOptions
from exporter.model.target import ProbeSpec, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSpec:
    """A load test; with neither ``cron`` nor ``every_s`` it runs on command only."""

    plan: LoadPlan
    cron: str | None = None
    every_s: float | None = None

    @property
    def is_scheduled(self) -> bool:
        """Tell whether it runs by itself."""
        return self.cron is not None or self.every_s is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPlan:
    """A target and the probes that run against it, in the order of the file."""

    target: Target
    probes: tuple[ProbeSpec, ...]
    loads: tuple[LoadSpec, ...] = ()
    pricing: Pricing = Pricing()


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """A kernel bench suite on a schedule.

    ``devices`` holds ``cpu`` and ``cuda:N``; empty means: every device found.
    """

    suite: str
    every_s: float
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """Where the service listens."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Everything the user said, checked, with the defaults filled in."""

    targets: tuple[TargetPlan, ...]
    benches: tuple[BenchPlan, ...]
    web: WebOptions
    state_file: str | None = None
    """Where what was spent today outlives the process; None means: nowhere."""
    target_files: tuple[str, ...] = ()
    """Patterns of files that hold more targets."""
    target_file_problems: tuple[str, ...] = ()
    """One line for each thing that keeps a target file from being in force as it stands."""
    power: PowerOptions = field(default_factory=PowerOptions)
