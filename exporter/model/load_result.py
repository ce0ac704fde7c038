"""What a load run found; the JSON of these values is the run file (docs/load.md)."""

from dataclasses import dataclass, replace
from typing import Any

from exporter.model.load_histogram import Distribution, merged
from exporter.model.load_knee import Knee
from exporter.model.load_plan import LoadPlan
from exporter.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Ended:
    """How many requests ended in one way."""

    outcome: Outcome
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one step measured; distributions hold successful requests whose error bound is narrow enough.

    Only requests that were sent after the settle time are in it.
    """

    sent: int = 0
    outcomes: tuple[Ended, ...] = ()
    """Requests that ended, by outcome, without those of count 0; sums to ``sent`` unless the step was cut."""
    good: int = 0
    """Successful requests that kept every objective."""
    settle_requests: int = 0
    late: int = 0
    """Open loop: requests sent more than 5 ms after they were due."""
    dropped: int = 0
    """Open loop: due requests that were not sent because too many were in flight."""
    wall_s: float = 0.0
    """From the first request sent to the last one over."""
    sending_s: float = 0.0
    """From the first request sent to the end of sending."""
    in_flight_s: float = 0.0
    """Sum over requests of the time, within ``sending_s``, from sent to the arrival of the last byte."""
    cpu_s: float = 0.0
    """CPU time of the workers in ``wall_s``."""
    input_tokens: int = 0
    output_tokens: int = 0
    tokens_from_usage: int = 0
    """Successful requests whose tokens the server counted."""
    connections: int = 0
    """Connections opened, the settle time included."""
    invalid: int = 0
    """Values left out of the distributions because their error bound exceeds 1 ms and 5 % of the value."""
    values: int = 0
    """Values, the invalid ones included."""
    user_stamps: int = 0
    """Requests with a read that the kernel did not stamp."""
    ttft: Distribution = Distribution()
    tpot: Distribution = Distribution()
    itl: Distribution = Distribution()
    e2e: Distribution = Distribution()
    ttft_scheduled: Distribution = Distribution()
    """From the time at which the request was due; open loop only, as the next."""
    e2e_scheduled: Distribution = Distribution()
    lateness: Distribution = Distribution()
    """How long reads had waited in the kernel; part of no latency above."""
    dispatch: Distribution = Distribution()
    """Request sent - request due."""

    @property
    def ended(self) -> int:
        """Requests that ended."""
        return sum(ended.count for ended in self.outcomes)

    @property
    def succeeded(self) -> int:
        """Requests that ended well."""
        return self.count(Outcome.OK)

    @property
    def failed(self) -> int:
        """Requests that did not."""
        return self.ended - self.succeeded

    def count(self, *outcomes: Outcome) -> int:
        """Return how many requests ended in one of these ways."""
        return sum(ended.count for ended in self.outcomes if ended.outcome in outcomes)


_ADDED = (
    *("sent", "good", "settle_requests", "late", "dropped", "in_flight_s", "cpu_s", "input_tokens"),
    *("output_tokens", "tokens_from_usage", "connections", "invalid", "values", "user_stamps"),
)
_DISTRIBUTIONS = ("ttft", "tpot", "itl", "e2e", "ttft_scheduled", "e2e_scheduled", "lateness", "dispatch")


def joined(parts: tuple[Tally, ...]) -> Tally:
    """Return one tally of workers that ran side by side."""
    outcomes = {o: sum(part.count(o) for part in parts) for o in Outcome}
    added: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in _ADDED}
    added |= {name: merged(getattr(part, name) for part in parts) for name in _DISTRIBUTIONS}
    whole = Tally(
        outcomes=tuple(Ended(outcome, count) for outcome, count in outcomes.items() if count),
        wall_s=max((part.wall_s for part in parts), default=0.0),
        sending_s=max((part.sending_s for part in parts), default=0.0),
    )
    return replace(whole, **added)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One level, run once."""

    level: float
    repeat: int = 0
    side: str = "a"
    """``b`` for the second target of an interleaved run."""
    started_unix_s: float
    tally: Tally
    joules: float | None = None
    """Energy of what serves the target over ``wall_s``; None where it is not known."""
    stopped: str = ""
    """Why the step ended before its requests were sent, for people; empty where it did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """Who was tested.  The model is the configured one."""

    target: str
    base_url: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Where the run was driven from."""

    host_cpu: str
    cores: int
    system: str
    python: str
    exporter: str
    load_before: float
    load_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """What tokens or the machine cost; every field None where it is not known."""

    input_per_mtok: float | None = None
    output_per_mtok: float | None = None
    currency: str = "USD"
    capex: float | None = None
    amortise_years: float | None = None
    power_price_kwh: float | None = None
    pue: float = 1.0
    watts: float | None = None
    """What serves the target draws, where it is stated and not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRun:
    """A whole run."""

    plan: LoadPlan
    served: Served
    served_b: Served | None = None
    pricing: Pricing = Pricing()
    fingerprint: Fingerprint
    started_unix_s: float
    steps: tuple[Step, ...] = ()
    knee: Knee | None = None
    stopped: str = ""
    """Why the run ended early, for people; empty where it did not."""
