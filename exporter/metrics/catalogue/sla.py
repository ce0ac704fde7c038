"""Families about promises: what was asked for, and every request held against it."""

from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Family, Type
from exporter.model.target import Severity

_SLI = (*WHO, "sli")

REQUESTS = Family(
    name="inference_sla_requests_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Requests held against the objective, failures too. P99 <= T is exactly breaches / requests <= 1 %.",
)
BREACHES = Family(
    name="inference_sla_breaches_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Requests that failed or took longer than the threshold, decided for each request from its own "
    "latency, not from buckets.",
)
BREACH_RUNS = Family(
    name="inference_sla_breach_runs_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Breaches whose predecessor was good: runs. runs / breaches tells how independent breaches are.",
)
UNDECIDED = Family(
    name="inference_sla_undecided_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Requests that are neither: the error bound of their latency straddles the threshold. They are "
    "not in inference_sla_requests_total.",
)
CONSECUTIVE = Family(
    name="inference_sla_consecutive_breaches",
    type=Type.GAUGE,
    labels=_SLI,
    help="Breaches in a row up to now; an undecided request neither adds to the row nor ends it.",
)
OBJECTIVE = Family(
    name="inference_sla_objective_ratio",
    type=Type.GAUGE,
    labels=_SLI,
    unit="ratio",
    help="Share of requests that must be good: 0.99 for a P99.",
)
THRESHOLD = Family(
    name="inference_sla_threshold_seconds",
    type=Type.GAUGE,
    labels=_SLI,
    unit="seconds",
    help="Latency within which a request is good; absent for availability.",
)
SEVERITY_INFO = Family(
    name="inference_sla_severity_info",
    type=Type.GAUGE,
    labels=(*_SLI, "severity"),
    closed=(("severity", tuple(map(str, Severity))),),
    help="1 for each objective, with what its alert does: page wakes somebody, ticket waits.",
)

CONFIRMATIONS = Family(
    name="inference_sla_confirmations_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Extra requests after a breach, held against the objective. They come when things are bad, so they "
    "are in no other family but the tokens: shares and percentiles stay those of the schedule.",
)
CONFIRMATION_BREACHES = Family(
    name="inference_sla_confirmation_breaches_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Confirmations that failed or took longer than the threshold.",
)
CONFIRMATION_RUNS = Family(
    name="inference_sla_confirmation_runs_total",
    type=Type.COUNTER,
    labels=_SLI,
    help="Runs of breaches in the sequence of scheduled requests and confirmations together.",
)

SLA: tuple[Family, ...] = (
    REQUESTS,
    BREACHES,
    BREACH_RUNS,
    UNDECIDED,
    CONSECUTIVE,
    OBJECTIVE,
    THRESHOLD,
    SEVERITY_INFO,
    CONFIRMATIONS,
    CONFIRMATION_BREACHES,
    CONFIRMATION_RUNS,
)
