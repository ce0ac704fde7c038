"""The alerts on objectives: a page, a ticket for slow losses, and the budget of a month."""

from dataclasses import dataclass

from exporter.metrics.catalogue import sla
from prometheus import confirmed
from prometheus import evidence as ev
from prometheus.annotations import PERCENT, PROBE_OF, PROMISE
from prometheus.document import Alert, Group, Record
from prometheus.promql import SLI, Pace, at_least, seconds

NATS = 9.5
"""exp(-9.5) = 7.5e-5: the chance of a false alarm at one look, for a service just at its objective."""
SOONEST_NATS = 11
"""For the shortest window, which looks anew most often, and sees least of how breaches cluster."""
LEAST_RUNS = 2
"""One run is one witness, however long; long ones have a rule of their own."""
IN_A_ROW = 24
"""Breaches in a row that page: of runs of three on average, one in 10,000 is that long."""


@dataclass(frozen=True, slots=True)
class Look:
    """Evidence over a window, which counts while a breach lies in the guard: it resolves after recovery."""

    window: str
    guard: str
    nats: float = NATS


PAGE_LOOKS = (Look("15m", "15m", SOONEST_NATS), Look("1h", "30m"), Look("2h", "1h"), Look("6h", "2h"))
TICKET_LOOKS = (Look("1d", "6h"), Look("3d", "6h"))
BURN_RATES = (("1h", "5m", 14.4), ("6h", "30m", 6))
"""Windows and factor of the SRE workbook's page, for what is lost in long runs, which evidence discounts."""
BUDGET_LEFT = "sli:inference_sla_budget_left:ratio30d"


def page(pace: Pace) -> Group:
    """Return the windows, the evidence and the page, one after the other: none reads an old value."""
    windows = sorted({w for look in PAGE_LOOKS for w in (look.window, look.guard)} | {"5m"}, key=seconds)
    conditions = (
        *(_sure(look) for look in PAGE_LOOKS),
        f"max by ({SLI}) ({sla.CONSECUTIVE.name}) >= {IN_A_ROW}",
        confirmed.condition(pace, SOONEST_NATS),
        *(_burns(*rate) for rate in BURN_RATES),
    )
    either = "\n  or ".join(f"({condition})" for condition in conditions)
    return Group(
        "inference_sla_page",
        pace.interval("30s"),
        (
            *ev.promises(),
            *(record for window in windows for record in ev.counts(pace, window)),
            *(ev.share(window) for window in windows),
            *(ev.evidence(look.window) for look in PAGE_LOOKS),
            *confirmed.records(pace),
            Alert(
                name="InferenceSLABreach",
                expr=f"({ev.ratio('15m')} and on ({SLI}) (\n  {either}\n))\n"
                f"* on ({SLI}) group_left (severity) {ev.SEVERITY}",
                keep=pace.of("10m"),
                summary="{{ $labels.target }} breaks its {{ $labels.sli }} objective",
                description=f"{PERCENT} of the requests of the last 15 minutes by {PROBE_OF} failed or were "
                f"too slow, and chance does not explain what the last hours show. {PROMISE}",
            ),
        ),
    )


def ticket(pace: Pace) -> Group:
    """Return what a day, three days and a month show."""
    windows = tuple(look.window for look in TICKET_LOOKS)
    either = "\nor ".join(_sure(look) for look in TICKET_LOOKS)
    month = f"[{pace.of('30d')}:{pace.of('1h')}]"
    lost, held = (f"sum_over_time({recorded('1h')}{month})" for recorded in (ev.breaches, ev.requests))
    return Group(
        "inference_sla_ticket",
        pace.interval("5m"),
        (
            *(record for window in windows for record in ev.counts(pace, window)),
            *(ev.share(window) for window in windows),
            *(ev.evidence(window) for window in windows),
            Record(BUDGET_LEFT, f"1 - {lost} / {held} / {ev.BUDGET}"),
            Alert(
                name="InferenceSLABreachSlow",
                expr=f"{ev.ratio('1d')} and on ({SLI}) (\n{either}\n)",
                severity="ticket",
                keep=pace.of("30m"),
                summary="{{ $labels.target }} loses its {{ $labels.sli }} objective slowly",
                description=f"{PERCENT} of the requests of the last day by {PROBE_OF} failed or were too "
                f"slow: too many over one or three days to be chance. {PROMISE}",
            ),
        ),
    )


def _sure(look: Look) -> str:
    return (
        f"{ev.effective(look.window)} > {look.nats} and {ev.runs(look.window)} > {at_least(LEAST_RUNS)}"
        f" and {ev.breaches(look.guard)} > {at_least(1)}"
    )


def _burns(long: str, short: str, factor: float) -> str:
    return (
        f"{ev.ratio(long)} > {factor} * {ev.BUDGET} and {ev.ratio(short)} > {factor} * {ev.BUDGET}"
        f" and {ev.breaches(long)} > {at_least(IN_A_ROW)} and {ev.breaches('5m')} > {at_least(1)}"
    )
