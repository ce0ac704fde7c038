"""Effective evidence: how sure it is that an objective is broken, when breaches come in runs.

    nats      = n KL(k/n || q)     k breaches in n requests, q = 1 - objective; 0 where k <= n q
    effective = nats * runs / k    runs = breaches whose predecessor was good

Of independent requests that keep the objective at least k of n breach with probability exp(-nats) at most,
for every n (Chernoff).  Breaches of one blip are one witness, not many: hence the factor.
"""

from exporter.metrics.catalogue import sla
from prometheus.document import Record
from prometheus.promql import SLI, Pace, recorded

BUDGET = "sli:inference_sla_budget:ratio"
SEVERITY = "sli:inference_sla_severity:info"
LEAST_BUDGET = 1e-6
"""No objective that can be configured is stricter; it keeps a division from giving infinity."""


def requests(window: str) -> str:
    """Return the recorded number of requests in the window."""
    return recorded("sli", sla.REQUESTS, f"increase{window}")


def breaches(window: str) -> str:
    """Return the recorded number of breaches in the window."""
    return recorded("sli", sla.BREACHES, f"increase{window}")


def runs(window: str) -> str:
    """Return the recorded number of runs of breaches that began in the window."""
    return recorded("sli", sla.BREACH_RUNS, f"increase{window}")


def effective(window: str) -> str:
    """Return the recorded effective evidence over the window, in nats."""
    return f"sli:inference_sla_evidence:nats{window}"


def ratio(window: str) -> str:
    """Return the recorded share of breaches in the window; NaN without requests."""
    return f"sli:inference_sla_breach:ratio{window}"


def promises() -> tuple[Record, ...]:
    """Return what every objective allows, and what its alert does.

    One series an objective, whatever several exporters, or a reload in between, say: page wins.
    """
    info = sla.SEVERITY_INFO.name
    return (
        Record(BUDGET, f"clamp_min(1 - max by ({SLI}) ({sla.OBJECTIVE.name}), {LEAST_BUDGET})"),
        Record(
            SEVERITY,
            f"""
            max by ({SLI}, severity) ({info}{{severity="page"}})
            or (
              max by ({SLI}, severity) ({info}{{severity="ticket"}})
              unless on ({SLI}) {info}{{severity="page"}}
            )
            """,
        ),
    )


def counts(pace: Pace, window: str) -> tuple[Record, ...]:
    """Return the requests, breaches and runs of a window."""
    return tuple(
        Record(name, f"sum by ({SLI}) (increase({family.name}[{pace.of(window)}]))")
        for name, family in (
            (requests(window), sla.REQUESTS),
            (breaches(window), sla.BREACHES),
            (runs(window), sla.BREACH_RUNS),
        )
    )


def share(window: str) -> Record:
    """Return the share of breaches in a window."""
    return Record(ratio(window), f"{breaches(window)} / {requests(window)}")


def evidence(window: str) -> Record:
    """Return the effective evidence over a window."""
    return Record(effective(window), effective_of(breaches(window), requests(window), runs(window)))


def effective_of(breached: str, held: str, began: str) -> str:
    """Return the effective evidence of so many breaches, requests and runs, each a recorded series.

    Both logarithms are clamped: where every request breaches, or none does, 0 * ln 0 is NaN, and an alert
    that compares with NaN is silent.
    """
    n, q = held, BUDGET
    k = f"clamp_min({breached}, 1e-9)"
    good = f"clamp_min({n} - {breached}, 1e-9)"
    return f"""
        (
          {k} * ln({k} / ({n} * {q}))
          + {good} * ln({good} / ({n} * (1 - {q})))
        )
        * clamp_max({began} / {k}, 1)
        * ({breached} > bool {n} * {q})
        and {n} > 0
        """
