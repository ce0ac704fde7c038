"""Whether one request kept each promise.

A failed request is a breach of every objective, even if it was fast until it broke: the promise is an
answer in time, and a server that dies right after the first token must not look better for it.
"""

from enum import StrEnum

from exporter.model.clocks import Clock, Measured, Timing
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import Objective


class Promise(StrEnum):
    """What one request says about one objective."""

    MET = "met"
    BREACHED = "breached"
    UNDECIDED = "undecided"
    """The span in which the true value lies straddles the threshold."""
    NOT_COUNTED = "not_counted"
    """No evidence: the request was not the target's to answer, or has no such clock (one token, no gap)."""


def decide(outcome: Outcome, timing: Timing, objective: Objective) -> Promise:
    """Hold one request against one objective, by the true latency and never by a bucket."""
    if not outcome.counts_for_sla:
        return Promise.NOT_COUNTED
    if outcome.is_failure:
        return Promise.BREACHED
    if objective.clock is None or objective.threshold_s is None:
        return Promise.MET
    values = _values(timing, objective.clock)
    if not values:
        return Promise.NOT_COUNTED
    kept = {value.meets(objective.threshold_s) for value in values}
    if False in kept:
        return Promise.BREACHED
    return Promise.UNDECIDED if None in kept else Promise.MET


def breaks_any(result: ProbeResult) -> bool:
    """Tell whether the request broke an objective of its probe."""
    return any(
        decide(result.outcome, result.timing, objective) is Promise.BREACHED
        for objective in result.spec.objectives
    )


def _values(timing: Timing, clock: Clock) -> tuple[Measured, ...]:
    """Every value that has to keep the objective: all gaps for ITL (the largest need not be the widest)."""
    if clock is Clock.ITL:
        return timing.gaps
    value = timing.of(clock)
    return () if value is None else (value,)
