"""The clocks of one request, in seconds, each with the span in which the true value lies."""

from dataclasses import dataclass
from enum import StrEnum


class Clock(StrEnum):
    """A latency that an objective can be set on; the values are what the configuration says."""

    TTFT = "ttft"
    TTFC = "ttfc"
    ITL = "itl"
    TPOT = "tpot"
    E2E = "e2e"


INVALID_BOUND_S = 0.001
INVALID_BOUND_RATIO = 0.05


@dataclass(frozen=True, slots=True)
class Measured:
    """A duration in seconds whose true value lies in [value_s - below_s, value_s + above_s].

    The spans come from reads that carried several events: the kernel stamps only the last segment.
    """

    value_s: float
    below_s: float = 0.0
    above_s: float = 0.0

    @property
    def bound_s(self) -> float:
        """The largest error this value can have, in seconds."""
        return max(self.below_s, self.above_s)

    @property
    def is_valid(self) -> bool:
        """Tell whether the value may be observed: its bound is at most 1 ms or 5 % of it."""
        return self.bound_s <= INVALID_BOUND_S or self.bound_s <= INVALID_BOUND_RATIO * self.value_s

    def meets(self, threshold_s: float) -> bool | None:
        """Tell whether the true value is within the threshold; None where the span straddles it."""
        if self.value_s + self.above_s <= threshold_s:
            return True
        if self.value_s - self.below_s > threshold_s:
            return False
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """Where the time of one request went, in seconds; None for what did not happen.

    DNS, connect and TLS exist on a new connection only.  The sum is the total within 5 %.
    """

    dns_s: float | None = None
    connect_s: float | None = None
    tls_s: float | None = None
    send_s: float | None = None
    wait_s: float | None = None
    """Request sent to response headers."""
    receive_s: float | None = None
    """Response headers to the end."""
    total_s: float


class TokensFrom(StrEnum):
    """Who counted the output tokens."""

    USAGE = "usage"
    CHUNKS = "chunks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of one request; None means that the server did not say."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    output_from: TokensFrom | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The clocks of one request (DESIGN: docs/metrics.md#clocks); None where it has no such clock."""

    ttft: Measured | None = None
    """First token of any channel minus first byte sent."""
    ttfc: Measured | None = None
    """First token that is neither reasoning nor tool call minus first byte sent."""
    tpot: Measured | None = None
    """(last token - first token) / (output tokens - tokens in the first token-bearing event)."""
    e2e: Measured | None = None
    """``[DONE]``, else the end of the message, minus first byte sent."""
    gaps: tuple[Measured, ...] = ()
    """Each gap between consecutive token-bearing events (inter-token latency, chunk gap)."""

    def of(self, clock: Clock) -> Measured | None:
        """Return the value that an objective on this clock is held against.

        For ITL that is the request's largest gap: the request keeps an ITL objective when every gap does.
        """
        if clock is Clock.ITL:
            return max(self.gaps, key=lambda gap: gap.value_s, default=None)
        single: dict[Clock, Measured | None] = {
            Clock.TTFT: self.ttft,
            Clock.TTFC: self.ttfc,
            Clock.TPOT: self.tpot,
            Clock.E2E: self.e2e,
        }
        return single[clock]
