"""Load and capacity: how much a target takes before it breaks its promises."""

from exporter.metrics.catalogue import load
from exporter.metrics.catalogue.schedule import MISSED
from exporter.metrics.family import Family
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import RATE, by, increase, quantile, rate
from grafana.panel import GREEN, ORANGE, RED, Json, Query, column, heatmap, override, stat, table, timeseries

WHERE = 'target=~"$target", scenario=~"$scenario"'
SCENARIO = "target, scenario"
NAMED = "{{target}} {{scenario}}"
UNDER_LOAD = "Of load tests only; their latencies never mix with the probes'."


def latency(number: int, title: str, family: Family) -> Json:
    """Return P50 and P99 of a clock under load, while a test runs."""
    return timeseries(
        number,
        title,
        f"While a test runs. {UNDER_LOAD} Steps in which the client was the limit are left out.",
        Query(quantile(0.99, SCENARIO, family, WHERE, RATE), f"P99 {NAMED}"),
        Query(quantile(0.5, SCENARIO, family, WHERE, RATE), f"P50 {NAMED}"),
        unit="s",
    )


def a_second(family: Family) -> str:
    """Return a counter's increase over the wall time of the steps, in the window."""
    return f"{increase(SCENARIO, family, WHERE)} / {increase(SCENARIO, load.RUN_SECONDS, WHERE)}"


GLANCE = Row(
    "At a glance",
    (
        line(
            4,
            stat(
                1,
                "In flight",
                "Requests of load tests in flight now; 0 while none is running.",
                Query(f"sum({load.IN_FLIGHT.name}{{{WHERE}}})", "in flight"),
                unit="none",
                spark=True,
            ),
            stat(
                2,
                "QPS under load",
                "Requests of the window over the wall time of the steps they were in.",
                Query(
                    f"sum(increase({load.REQUESTS.name}{{{WHERE}}}[$window]))"
                    f" / sum(increase({load.RUN_SECONDS.name}{{{WHERE}}}[$window]))",
                    "QPS",
                ),
                unit="reqps",
            ),
            stat(
                3,
                "Goodput",
                "Requests within every limit of the scenario's `good`, over the same time.",
                Query(
                    f"sum(increase({load.GOOD.name}{{{WHERE}}}[$window]))"
                    f" / sum(increase({load.RUN_SECONDS.name}{{{WHERE}}}[$window]))",
                    "goodput",
                ),
                unit="reqps",
            ),
            stat(
                4,
                "Good requests",
                "Share of all that were sent; failures are not good.",
                Query(
                    f"sum(increase({load.GOOD.name}{{{WHERE}}}[$window]))"
                    f" / sum(increase({load.REQUESTS.name}{{{WHERE}}}[$window]))",
                    "good",
                ),
                unit="percentunit",
                decimals=1,
                steps=((None, RED), (0.95, ORANGE), (0.99, GREEN)),
            ),
            stat(
                5,
                "Steps limited by the client",
                "This host, not the server, was the limit: they say nothing of the server.",
                Query(f"sum(increase({load.CLIENT_LIMITED.name}{{{WHERE}}}[$window]))", "steps"),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, ORANGE)),
            ),
            stat(
                6,
                "Runs not finished",
                "Busy target, not begun, or ended early by a bound.",
                Query(f"sum(increase({load.RUN_FAILURES.name}{{{WHERE}}}[$window]))", "runs"),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, ORANGE)),
            ),
        ),
        line(
            7,
            table(
                7,
                "Scenarios",
                "Over the window chosen above; all steps of a scenario together. `inference-exporter "
                "load` and its run "
                "file have each step and the knee.",
                column(a_second(load.REQUESTS)),
                column(a_second(load.GOOD)),
                column(increase(SCENARIO, load.REQUESTS, WHERE)),
                column(quantile(0.5, SCENARIO, load.TTFT, WHERE)),
                column(quantile(0.99, SCENARIO, load.TTFT, WHERE)),
                column(quantile(0.99, SCENARIO, load.DURATION, WHERE)),
                column(f"time() - {by(SCENARIO, 'max', load.LAST_RUN, WHERE)}"),
                labels=("target", "scenario"),
                names=("QPS", "Goodput", "n", "TTFT P50", "TTFT P99", "E2E P99", "Last run"),
                overrides=(
                    override("/QPS|Goodput/", ("unit", "reqps"), ("decimals", 2), regexp=True),
                    override("/TTFT|E2E/", ("unit", "s"), regexp=True),
                    override("n", ("decimals", 0)),
                    override("Last run", ("unit", "s"), ("decimals", 0)),
                ),
            ),
        ),
    ),
)
CURVES = Row(
    "What load does",
    (
        line(
            8,
            timeseries(
                10,
                "Requests in flight",
                "The steps of a closed loop; in an open loop, what piles up.",
                Query(by(SCENARIO, "max", load.IN_FLIGHT, WHERE), NAMED),
                unit="none",
                decimals=0,
            ),
            timeseries(
                11,
                "Asked, answered, good",
                "An open loop asks for a rate; where answers stay below it, the target is full. Good "
                "ones fall away first.",
                Query(by(SCENARIO, "max", load.OFFERED, WHERE), f"asked {NAMED}"),
                Query(rate(SCENARIO, load.REQUESTS, WHERE), f"answered {NAMED}"),
                Query(rate(SCENARIO, load.GOOD, WHERE), f"good {NAMED}"),
                unit="reqps",
            ),
            timeseries(
                12,
                "Tokens a second",
                "Output tokens of the tests over wall time.",
                Query(rate(SCENARIO, load.TOKENS, f'{WHERE}, kind="output"'), NAMED),
                unit="none",
            ),
        ),
        line(
            8,
            latency(13, "TTFT under load", load.TTFT),
            latency(14, "ITL under load", load.ITL),
            latency(15, "E2E under load", load.DURATION),
        ),
        line(
            8,
            heatmap(
                16,
                "TTFT under load",
                f"Requests a bucket and interval. {UNDER_LOAD}",
                f"sum by (le) (increase({load.TTFT.name}_bucket{{{WHERE}}}[{RATE}]))",
                "s",
            ),
            timeseries(
                17,
                "Failures under load",
                "By reason.",
                Query(increase("target, reason", load.FAILURES, WHERE, RATE), "{{target}} {{reason}}"),
                unit="none",
                stacked=True,
                decimals=0,
            ),
            timeseries(
                18,
                "Probes that gave way",
                "While a test has a target to itself its probes skip their slots.",
                Query(
                    increase("target, probe", MISSED, 'target=~"$target", cause="busy"', RATE),
                    "{{target}} {{probe}}",
                ),
                unit="none",
                decimals=0,
            ),
        ),
    ),
)

BOARD = board(
    "load",
    "Load and capacity",
    "How much a target takes before it breaks its promises.",
    (
        variable("target", "Target", f"label_values({load.RUNS.name}, target)"),
        variable("scenario", "Scenario", f'label_values({load.RUNS.name}{{target=~"$target"}}, scenario)'),
        WINDOW,
    ),
    (GLANCE, CURVES),
)
