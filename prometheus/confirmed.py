"""Evidence of scheduled and confirming requests together.

Confirmations come after a breach, every few seconds, and see one disturbance many times.  Where half of the
requests of a blip breach, that looks like many runs.  So the evidence counts only with a breach in each of
the last minutes: a blip is over by then, a broken objective is not.
"""

from exporter.metrics.catalogue import sla
from exporter.metrics.family import Family
from prometheus import evidence as ev
from prometheus.document import Record
from prometheus.promql import SLI, Pace, at_least, recorded

WINDOW = "15m"
MINUTES = 6
"""Of disturbances of 45 s on average one in hundreds lasts from the first of these to the last."""
LEAST_RUNS = 4

_REQUESTS = f"sli:inference_sla_confirmed_requests:increase{WINDOW}"
_BREACHES = f"sli:inference_sla_confirmed_breaches:increase{WINDOW}"
_TOTAL = "sli:inference_sla_confirmed_breaches:total"
_EVIDENCE = f"sli:inference_sla_confirmed_evidence:nats{WINDOW}"
_RUNS = recorded("sli", sla.CONFIRMATION_RUNS, f"increase{WINDOW}")


def records(pace: Pace) -> tuple[Record, ...]:
    """Return the counts of both kinds of requests, and the evidence of them."""
    return (
        Record(_REQUESTS, f"{ev.requests(WINDOW)} + {_increase(pace, sla.CONFIRMATIONS)}"),
        Record(_BREACHES, f"{ev.breaches(WINDOW)} + {_increase(pace, sla.CONFIRMATION_BREACHES)}"),
        Record(_RUNS, _increase(pace, sla.CONFIRMATION_RUNS)),
        Record(
            _TOTAL,
            f"sum by ({SLI}) ({sla.BREACHES.name}) + sum by ({SLI}) ({sla.CONFIRMATION_BREACHES.name})",
        ),
        Record(_EVIDENCE, ev.effective_of(_BREACHES, _REQUESTS, _RUNS)),
    )


def condition(pace: Pace, nats: float) -> str:
    """Return: the evidence suffices, and every one of the last minutes had a breach."""
    minutes = " and ".join(
        f"{_before(pace, minute)} - {_before(pace, minute + 1)} > 0" for minute in range(MINUTES)
    )
    return f"{_EVIDENCE} > {nats} and {_RUNS} > {at_least(LEAST_RUNS)} and {minutes}"


def _before(pace: Pace, minutes: int) -> str:
    return f"({_TOTAL} offset {pace.of(f'{minutes}m')})" if minutes else _TOTAL


def _increase(pace: Pace, family: Family) -> str:
    return f"sum by ({SLI}) (increase({family.name}[{pace.of(WINDOW)}]))"
