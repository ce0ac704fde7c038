"""Target: one target in depth, when the overview says that something is wrong with it."""

from exporter.metrics.catalogue import probe, server
from exporter.metrics.catalogue.probe import DURATION, FAILED, ITL, PHASE, PROBES, TOKENS, TPOT, TTFT
from exporter.metrics.catalogue.schedule import MISSED
from exporter.metrics.catalogue.sla import THRESHOLD
from exporter.metrics.family import Family
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import RATE, by, increase, mean, quantile, rate
from grafana.panel import GREEN, ORANGE, PROMISE, RED, Json, Query, heatmap, stat, states, timeseries, values
from grafana.promises import DOWN_AFTER, STATE_MEANS, STATES, objectives, state

WHERE = 'target="$target", model=~"$model", probe=~"$probe"'
OF_TARGET = 'target="$target", model=~"$model"'
QUANTILES = (0.5, 0.95, 0.99)


def clock(number: int, title: str, family: Family, sli: str, meaning: str) -> Json:
    """Return the quantiles of a clock over time, with what was promised of it."""
    return timeseries(
        number,
        f"{title} over the window",
        f"{meaning} Successful requests. The dashed line is the promise.",
        *(Query(quantile(q, "probe", family, WHERE), f"P{q * 100:g} {{{{probe}}}}") for q in QUANTILES),
        Query(f'max by (probe) ({THRESHOLD.name}{{{WHERE}, sli=~"{sli}_.*"}})', "promised {{probe}}"),
        unit="s",
        overrides=(PROMISE,),
    )


def heat(number: int, title: str, family: Family) -> Json:
    """Return the heat map of a clock."""
    return heatmap(
        number,
        title,
        "Values a bucket and interval. Every threshold that an objective sets on this clock is the edge "
        "of a row.",
        f"sum by (le) (increase({family.name}_bucket{{{WHERE}}}[{RATE}]))",
        "s",
    )


def big(number: int, title: str, family: Family) -> Json:
    """Return the P50, P95 and P99 of a clock as numbers."""
    return stat(
        number,
        title,
        "Over the window chosen above, all probes chosen. With fewer than 100 requests (n) the P99 is "
        "their maximum.",
        *(Query(quantile(q, "", family, WHERE), f"P{q * 100:g}") for q in QUANTILES),
        unit="s",
    )


NOW = Row(
    "$target now",
    (
        line(
            4,
            stat(
                1,
                "State",
                f"Of the worst probe. down: no success in {DOWN_AFTER}.",
                Query(f"min({state(WHERE)})", "state"),
                unit="none",
                mappings=(STATES,),
                filled=True,
                steps=((None, GREEN),),
            ),
            big(2, "TTFT", TTFT),
            big(3, "E2E", DURATION),
            stat(
                4,
                "n",
                "Requests in the window.",
                Query(f"sum(increase({PROBES.name}{{{WHERE}}}[$window]))", "n"),
                unit="none",
                decimals=0,
            ),
            stat(
                5,
                "Success",
                "In the window.",
                Query(
                    f"1 - sum(increase({FAILED.name}{{{WHERE}}}[$window]))"
                    f" / sum(increase({PROBES.name}{{{WHERE}}}[$window]))",
                    "success",
                ),
                unit="percentunit",
                decimals=2,
                steps=((None, RED), (0.95, ORANGE), (0.99, GREEN)),
            ),
            widths=(3, 7, 7, 3, 4),
        ),
        line(8, objectives(6, WHERE, ("model", "probe", "sli"), ("target",))),
    ),
)
CLOCKS = Row(
    "How long it takes",
    (
        line(
            9,
            clock(10, "TTFT", TTFT, "ttft", "Arrival of the first token - first byte of the request sent."),
            clock(11, "E2E", DURATION, "e2e", "Arrival of [DONE] - first byte of the request sent."),
        ),
        line(
            9,
            clock(12, "ITL", ITL, "itl", "Gap between two token-bearing events; an event may carry several."),
            clock(13, "TPOT", TPOT, "tpot", "(Last token - first token) / tokens after the first event."),
        ),
        line(
            9,
            heat(14, "TTFT", TTFT),
            heat(15, "ITL", ITL),
            heat(16, "E2E", DURATION),
        ),
        line(
            8,
            timeseries(
                17,
                "Where the time goes",
                "Phases of the last request, stacked. Name, connection and TLS only where one was "
                "opened; wait is "
                "until the first bytes of the answer.",
                Query(by("phase", "avg", PHASE, WHERE), "{{phase}}"),
                unit="s",
                stacked=True,
            ),
            timeseries(
                18,
                "Mean E2E",
                "A mean moves less than a P99 of few requests does; use it to see whether anything moved.",
                Query(mean("probe", DURATION, WHERE, RATE), "{{probe}}"),
                unit="s",
            ),
            timeseries(
                19,
                "Requests behind a quantile (n)",
                "In the window. Below 100 the P99 is the maximum.",
                Query(increase("probe", PROBES, WHERE), "{{probe}}"),
                unit="none",
                decimals=0,
            ),
        ),
    ),
)
ENDS = Row(
    "How it ends",
    (
        line(
            8,
            states(
                20,
                "State",
                STATE_MEANS,
                Query(state(WHERE), "{{probe}}"),
                mappings=(STATES,),
            ),
            timeseries(
                21,
                "Failures by reason",
                "Requests that ended badly.",
                Query(f"sum by (reason) (increase({FAILED.name}{{{WHERE}}}[{RATE}])) > 0", "{{reason}}"),
                unit="none",
                stacked=True,
                bars=True,
                decimals=0,
            ),
            timeseries(
                22,
                "Slots without a measurement",
                "By cause: these are ours, and no failures of the target.",
                Query(increase("cause", MISSED, WHERE, RATE), "{{cause}}"),
                unit="none",
                stacked=True,
            ),
        ),
        line(
            8,
            timeseries(
                23,
                "Connections",
                "Requests by the connection they went over. A server that closes after each answer costs "
                "a handshake.",
                Query(f"60 * {rate('kind', probe.CONNECTIONS, WHERE)}", "{{kind}} a minute"),
                unit="none",
                stacked=True,
            ),
            timeseries(
                24,
                "Tokens a second",
                "Of all requests over wall time; reasoning is a part of output, cached of input.",
                Query(rate("kind", TOKENS, WHERE), "{{kind}}"),
                unit="none",
            ),
            states(
                25,
                "Who counts the tokens",
                "The server (usage), or we (events; TPOT is the mean gap then).",
                Query(by("probe", "min", probe.TOKENS_FROM_USAGE, WHERE), "{{probe}}"),
                mappings=(values((1, "server", GREEN), (0, "events", ORANGE)),),
            ),
        ),
    ),
)

SAYS = Row(
    "What the server says, and what asking costs",
    (
        line(
            8,
            timeseries(
                30,
                "Its own account beside ours",
                "What the server reports of its time, in headers or body, and our clocks. The difference "
                "is the "
                "network, the gateway and the queue before it. Many servers report nothing.",
                Query(by("phase", "avg", server.SERVER_REPORTED, WHERE), "server: {{phase}}"),
                Query(mean("target", TTFT, WHERE, RATE), "ours: TTFT"),
                Query(mean("target", DURATION, WHERE, RATE), "ours: E2E"),
                unit="s",
            ),
            timeseries(
                31,
                "Rate limit left",
                "Share of what the last response's headers allow. Many servers name no limit.",
                Query(
                    f"{by('probe, kind', 'min', server.RATE_REMAINING, WHERE)}"
                    f" / {by('probe, kind', 'max', server.RATE_LIMIT, WHERE)}",
                    "{{probe}} {{kind}}",
                ),
                unit="percentunit",
                high=1,
            ),
            timeseries(
                32,
                "Model changes",
                "Good answers that named another model or fingerprint than the one before.",
                Query(increase("probe", server.MODEL_CHANGES, WHERE, RATE), "{{probe}}"),
                unit="none",
                decimals=0,
            ),
        ),
        line(
            7,
            timeseries(
                33,
                "Cost a day",
                "At the configured prices and the rate of the window, failed requests too.",
                Query(
                    f"86400 * {rate('probe, currency', server.COST, WHERE, '$window')}",
                    "{{probe}} {{currency}}",
                ),
                unit="none",
            ),
            timeseries(
                34,
                "Budget of the day spent",
                "Share of what the probes may spend until midnight UTC; at 100 % they are not sent.",
                Query(
                    f"{by('kind', 'max', server.BUDGET_SPENT, OF_TARGET)}"
                    f" / {by('kind', 'max', server.BUDGET, OF_TARGET)}",
                    "{{kind}}",
                ),
                unit="percentunit",
                high=1,
            ),
        ),
    ),
)

BOARD = board(
    "target",
    "Target",
    "One target in depth: clocks, phases, heat maps, failures, connections.",
    (
        variable("target", "Target", f"label_values({probe.TARGET_INFO.name}, target)", many=False),
        variable("model", "Model", f'label_values({probe.TARGET_INFO.name}{{target="$target"}}, model)'),
        variable(
            "probe",
            "Probe",
            f'label_values({probe.PROBE_INFO.name}{{target="$target", model=~"$model"}}, probe)',
        ),
        WINDOW,
    ),
    (NOW, CLOCKS, ENDS, SAYS),
    since="now-3h",
)
