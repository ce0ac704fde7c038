"""Series for people to look at: throughput, success, and percentiles beside the number they rest on."""

from exporter.metrics.catalogue import load, power, probe
from exporter.metrics.family import Family
from prometheus.document import Group, Record
from prometheus.promql import PROBE, Pace, recorded

WINDOW = "1h"
"""A P99 of fewer than 100 requests is their maximum: an hour of 15 s probes has 240."""
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
SCENARIO = ", ".join(load.WHO)
CLOCKS = tuple(probe.HISTOGRAM_OF.values())
MEDIAN = recorded("probe", probe.TTFT, f"p50_{WINDOW}")
MEAN = recorded("probe", probe.TTFT, f"mean{WINDOW}")
COUNT = recorded("probe", probe.TTFT, f"count{WINDOW}")


def display(pace: Pace) -> Group:
    """Return the rates, the ratios, and for each clock three percentiles and their number."""
    return Group(
        "inference_display",
        pace.interval("1m"),
        (
            Record(recorded("probe", probe.PROBES, "rate5m"), _rate(pace, probe.PROBES, "5m")),
            Record(
                recorded("probe", probe.SUCCESS, f"ratio{WINDOW}"),
                f"1 - {_rate(pace, probe.FAILED, WINDOW)} / {_rate(pace, probe.PROBES, WINDOW)}",
            ),
            Record(
                recorded("probe_kind", probe.TOKENS, "rate5m"),
                f"sum by ({PROBE}, kind) (rate({probe.TOKENS.name}[{pace.of('5m')}]))",
            ),
            *(record for clock in CLOCKS for record in _clock(pace, clock)),
            Record(
                recorded("target_work", power.TOKENS_PER_JOULE, f"avg{WINDOW}"),
                f"avg_over_time({power.TOKENS_PER_JOULE.name}[{pace.of(WINDOW)}])",
            ),
            Record(
                MEAN,
                f"{_rate(pace, probe.TTFT, WINDOW, '_sum')} / {_rate(pace, probe.TTFT, WINDOW, '_count')}",
            ),
        ),
    )


def load_tests(pace: Pace) -> Group:
    """Return throughput, goodput and success while load tests ran: over their own seconds, not the day's."""
    seconds = _load(pace, load.RUN_SECONDS)
    return Group(
        "inference_load",
        pace.interval("5m"),
        (
            Record(
                recorded("scenario", load.REQUESTS, "rate1d"), f"{_load(pace, load.REQUESTS)} / {seconds}"
            ),
            Record(recorded("scenario", load.GOOD, "rate1d"), f"{_load(pace, load.GOOD)} / {seconds}"),
            Record(
                recorded("scenario", load.GOOD, "ratio1d"),
                f"{_load(pace, load.GOOD)} / {_load(pace, load.REQUESTS)}",
            ),
            Record(
                recorded("scenario_kind", load.TOKENS, "rate1d"),
                f"{_load(pace, load.TOKENS, ', kind')} / ignoring (kind) group_left () {seconds}",
            ),
        ),
    )


def _load(pace: Pace, family: Family, more: str = "") -> str:
    return f"(sum by ({SCENARIO}{more}) (increase({family.name}[{pace.of('1d')}])) > 0)"


def _clock(pace: Pace, clock: Family) -> tuple[Record, ...]:
    window = pace.of(WINDOW)
    buckets = f"sum by (le, {PROBE}) (rate({clock.name}_bucket[{window}]))"
    return (
        *(
            Record(recorded("probe", clock, f"{name}_{WINDOW}"), f"histogram_quantile({share}, {buckets})")
            for name, share in PERCENTILES.items()
        ),
        Record(
            recorded("probe", clock, f"count{WINDOW}"),
            f"sum by ({PROBE}) (increase({clock.name}_count[{window}]))",
        ),
    )


def _rate(pace: Pace, family: Family, window: str, suffix: str = "") -> str:
    return f"sum by ({PROBE}) (rate({family.name}{suffix}[{pace.of(window)}]))"
