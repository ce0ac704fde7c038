"""What the user says about power: what to sample, what serves a target, what electricity costs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """Local GPUs by UUID; their powers are added up."""

    uuids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuPackages:
    """Every CPU package of this host, added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watts:
    """A number that somebody vouches for, where nothing can be read."""

    watts: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Promql:
    """A query to the Prometheus of ``PowerOptions.prometheus`` whose one result is watts."""

    query: str


PowerFrom = Gpus | CpuPackages | Watts | Promql
"""Where a number of watts comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Electricity:
    """Money per kilowatt-hour."""

    per_kwh: float
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerOptions:
    """How power is sampled on this host."""

    enabled: bool = True
    """False: no worker is started, and nothing is known of local devices."""
    every_s: float = 1.0
    processes: bool = False
    prometheus: str | None = None
    """URL that ``/api/v1/query`` is added to."""
    electricity: Electricity | None = None
