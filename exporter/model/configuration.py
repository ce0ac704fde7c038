"""The checked configuration as the rest of the service sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from exporter.model.load_plan import LoadPlan
from exporter.model.load_result import Pricing
from exporter.model.power_plan import PowerOptions
from exporter.model.quiet import QuietHours
from exporter.model.roofline import Peak
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


EVERY_THREAD = 1 << 16
"""More threads than can run at once anywhere: all there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchPlan:
    """A kernel bench suite on a schedule.

    ``devices`` holds ``cpu``, ``cuda:N`` and the like; empty means: every device found.
    """

    suite: str
    every_s: float
    devices: tuple[str, ...] = ()
    threads: int = 1
    """Of one CPU operation, at least 1; no more are started than can run at once.  A second one made the same
    kernel 3.5 to 6 times slower under foreign load, and its times useless."""
    quiet: tuple[QuietHours, ...] = ()
    """When nothing is run."""
    peaks: Mapping[str, Peak] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """The operator's word on what devices can do, by product name."""
    state: str | None = None
    """File that keeps what kernels took before; None: until the process ends."""


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
