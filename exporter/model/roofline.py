"""How far a kernel is from what its device can do: the roofline, and the share of the data sheet's peak.

A call that does F operations on B bytes cannot end before max(F / C, B / W), C and W being the rates that the
same device reached at matrix products and copies in the same run.  Ceilings that were measured work on any
device; a peak from a data sheet is used only where the device is known exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from exporter.model.attention import AttentionShape
from exporter.model.kernel import Dtype
from exporter.model.work import Work, flops, moved_bytes


class Bound(StrEnum):
    """What limits a call at best."""

    COMPUTE = "compute"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """What a device is sold as: dense operations per second by number format, bytes per second."""

    flops_per_second: Mapping[Dtype, float] = field(default_factory=lambda: MappingProxyType({}))
    """A format that is missing is not supported or not known."""
    bytes_per_second: float | None = None
    source: str
    """``operator`` (from the configuration), or whose word it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """What a device reached in this run; None or missing where its ceiling has no valid time."""

    device: str
    flops_per_second: Mapping[Dtype, float]
    """The best of the ways to write a matrix product, by number format."""
    bytes_per_second: float | None
    drift_ratio: float | None = None
    """Largest change of a ceiling between its first and its last measurement in the run; None: measured
    once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where one time stands; None where what it needs is not known."""

    intensity: float
    """FLOP per compulsory byte."""
    bound: Bound | None
    roofline_ratio: float | None
    """Least possible time by the measured ceilings / time.  Above 1 where caches beat the measured copy."""
    mfu: float | None
    """FLOP/s / the device's peak for this number format."""
    mbu: float | None
    """Compulsory bytes/s / the device's peak bandwidth."""


def place(work: Work, dtype: Dtype, time_s: float, ceilings: Ceilings | None, peak: Peak | None) -> Placement:
    """Place one call of ``time_s`` > 0 seconds; only attention is placed under the measured ceilings."""
    operations, moved = flops(work), moved_bytes(work, dtype.bytes)
    bound, ratio = None, None
    if isinstance(work, AttentionShape) and ceilings is not None:
        bound, ratio = _under(ceilings, dtype, operations, moved, time_s)
    peak_flops = peak.flops_per_second.get(dtype) if peak else None
    peak_bytes = peak.bytes_per_second if peak else None
    return Placement(
        intensity=operations / moved,
        bound=bound,
        roofline_ratio=ratio,
        mfu=operations / time_s / peak_flops if peak_flops and operations else None,
        mbu=moved / time_s / peak_bytes if peak_bytes else None,
    )


def _under(
    ceilings: Ceilings, dtype: Dtype, operations: int, moved: int, time_s: float
) -> tuple[Bound | None, float | None]:
    computes, moves = ceilings.flops_per_second.get(dtype), ceilings.bytes_per_second
    if computes is None or moves is None:
        return None, None
    compute_s, memory_s = operations / computes, moved / moves
    bound = Bound.COMPUTE if compute_s >= memory_s else Bound.MEMORY
    return bound, max(compute_s, memory_s) / time_s
