"""Alerts on a target, whatever was promised of it."""

from exporter.metrics.catalogue import probe, schedule, server
from prometheus import evidence as ev
from prometheus.annotations import PERCENT, PROBE_OF, main_reason
from prometheus.display_rules import COUNT, MEAN, MEDIAN
from prometheus.document import Alert, Group
from prometheus.promql import PROBE, Pace, at_least

DOWN_WINDOWS = ("3m", "5m", "10m", "30m", "6h")
"""The shortest of these that holds four slots decides; probes every 75 minutes or less are covered."""
DOWN_PROBES = 4
KEEP_DOWN = "20m"
"""Longer than the page on an objective outlasts a recovery: while this fires, that one is muted."""
ERRORS = (("15m", 0.2), ("1h", 0.05))
"""Window, and the share of failures in it that is too high."""
SLOWER = 1.3
FEWEST = 30
"""Requests of an hour that make a median worth comparing."""
CERTIFICATE_DAYS = 14


def targets(pace: Pace) -> Group:
    """Return the alerts that need no objective."""
    return Group(
        "inference_targets",
        pace.interval("30s"),
        (
            Alert(
                name="InferenceTargetDown",
                expr=_graded(_down(pace)),
                keep=pace.of(KEEP_DOWN),
                summary="{{ $labels.target }} is down (model {{ $labels.model }}, probe {{ $labels.probe }})",
                description="Every request of the last 3 minutes failed, and at least the last "
                f"{DOWN_PROBES}.{main_reason(pace.of('15m'))}",
            ),
            Alert(
                name="InferenceErrorRateHigh",
                expr="\nor ".join(_errors(pace, *limit) for limit in ERRORS),
                severity="ticket",
                wait=pace.of("5m"),
                keep=pace.of("15m"),
                summary="{{ $labels.target }} fails too often (probe {{ $labels.probe }})",
                description=f"{PERCENT} of the requests by {PROBE_OF} failed: above "
                + " or ".join(f"{limit:.0%} over {window}" for window, limit in ERRORS)
                + f".{main_reason(pace.of('1h'))}",
            ),
            Alert(
                name="InferenceTTFTRegression",
                expr=f"{_against_last_week(pace, MEDIAN)}\nand {_against_last_week(pace, MEAN)}\n"
                f"and {COUNT} >= {FEWEST}\nand {COUNT} offset {pace.of('1w')} >= {FEWEST}",
                severity="ticket",
                wait=pace.of("30m"),
                keep=pace.of("30m"),
                summary="{{ $labels.target }} takes longer to the first token than a week ago",
                description="The median TTFT of the last hour is {{ $value | printf `%.2f` }} times that of "
                f"the same hour a week ago, by {PROBE_OF}, and the mean agrees.",
            ),
            Alert(
                name="InferenceModelChanged",
                expr=f"sum by ({PROBE}) (increase({server.MODEL_CHANGES.name}[{pace.of('15m')}]))"
                f" > {at_least(1)}",
                severity="ticket",
                keep=pace.of("15m"),
                summary="{{ $labels.target }} answers as another model than before",
                description=f"{{{{ $value | printf `%.0f` }}}} times in 15 minutes an answer to {PROBE_OF} "
                "named another model or fingerprint than the one before: compare nothing across this moment.",
            ),
            Alert(
                name="InferenceBudgetExhausted",
                expr=f'sum by ({PROBE}) (increase({schedule.MISSED.name}{{cause="over_budget"}}'
                f"[{pace.of('30m')}])) > {at_least(1)}",
                severity="ticket",
                keep=pace.of("30m"),
                summary="The probing budget of {{ $labels.target }} is spent",
                description=f"{{{{ $value | printf `%.0f` }}}} requests by {PROBE_OF} were not sent in the "
                "last 30 minutes: what the configuration allows a day is used up.",
            ),
            Alert(
                name="InferenceCertificateExpiring",
                expr=f"(min by ({PROBE}) ({probe.CERTIFICATE.name}) - time()) / 86400 < {CERTIFICATE_DAYS}",
                severity="ticket",
                keep=pace.of("10m"),
                summary="The certificate of {{ $labels.target }} expires soon",
                description=f"In {{{{ $value | printf `%.1f` }}}} days, as {PROBE_OF} saw it last.",
            ),
        ),
    )


def _down(pace: Pace) -> str:
    """Return: in some window of 3 minutes or more there were four failures and no success.

    A success is seen by its time stamp: the gauge of the last result can miss one between two scrapes.
    A probe that is younger than the window has not failed all through it.
    """
    return "\n  or ".join(
        f"(sum by ({PROBE}) (increase({probe.FAILED.name}[{pace.of(window)}])) > {at_least(DOWN_PROBES)}"
        f" unless max by ({PROBE}) (changes({probe.LAST_SUCCESS.name}[{pace.of(window)}])) > 0"
        f" and max by ({PROBE}) ({probe.PROBES.name} offset {pace.of(window)}))"
        for window in DOWN_WINDOWS
    )


def _graded(down: str) -> str:
    """Give what is down the severity of its gravest objective; without one it is a ticket."""
    failing = f"(\n  {down}\n) and on ({PROBE}) max by ({PROBE}) ({probe.SUCCESS.name}) == 0"
    pages = f'group by ({PROBE}) ({ev.SEVERITY}{{severity="page"}})'
    return (
        f'label_replace({failing} and on ({PROBE}) {pages}, "severity", "page", "", "")\n'
        f'or label_replace({failing} unless on ({PROBE}) {pages}, "severity", "ticket", "", "")'
    )


def _errors(pace: Pace, window: str, limit: float) -> str:
    failed = f"sum by ({PROBE}) (increase({probe.FAILED.name}[{pace.of(window)}]))"
    ended = f"sum by ({PROBE}) (increase({probe.PROBES.name}[{pace.of(window)}]))"
    return f"({failed} / {ended} > {limit} and {failed} > {at_least(4)})"


def _against_last_week(pace: Pace, recorded: str) -> str:
    return f"{recorded} / ({recorded} offset {pace.of('1w')}) > {SLOWER}"
