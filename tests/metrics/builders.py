"""Short ways to say a target, a probe and a result."""

from exporter.metrics.family import Family, Sample
from exporter.model.clocks import Clock, Measured, Timing
from exporter.model.configuration import TargetPlan
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import Connection, Objective, ProbeSpec, Target

WHO = ("prod", "llama", "short")
AVAILABILITY = Objective(sli="availability", ratio=0.995)
TTFT_P99 = Objective(sli="ttft_p99", ratio=0.99, clock=Clock.TTFT, threshold_s=0.3)
E2E_P99 = Objective(sli="e2e_p99", ratio=0.99, clock=Clock.E2E, threshold_s=1.25)


def target(name: str = "prod", **changes: object) -> Target:
    return Target(**({"name": name, "base_url": "https://api.example.com/v1", "model": "llama"} | changes))


def probe(name: str = "short", **changes: object) -> ProbeSpec:
    plain = {
        "name": name,
        "kind": "chat",
        "every_s": 15.0,
        "timeout_s": 30.0,
        "stall_timeout_s": 15.0,
        "connection": Connection.REUSE,
        "params": None,
        "objectives": (TTFT_P99, AVAILABILITY),
        "clocks": frozenset(Clock),
    }
    return ProbeSpec(**(plain | changes))


def plan(name: str = "prod", *probes: ProbeSpec, **changes: object) -> TargetPlan:
    return TargetPlan(target=target(name, **changes), probes=probes or (probe(),))


def result(outcome: Outcome = Outcome.OK, **changes: object) -> ProbeResult:
    plain = {"target": target(), "spec": probe(), "outcome": outcome, "finished_unix_s": 1_700_000_000.0}
    return ProbeResult(**(plain | changes))


def ttft(value_s: float, bound_s: float = 0.0) -> Timing:
    return Timing(ttft=Measured(value_s, bound_s, bound_s))


def values(samples: list[Sample], family: Family) -> dict[tuple[str, ...], float | None]:
    """The samples of one family by the labels after the identity."""
    return {tuple(map(str, s.labels[3:])): s.value for s in samples if s.family is family}
