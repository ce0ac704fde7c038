"""Overview: every target at a glance, for a wall and for the first look of whoever was paged."""

from exporter.metrics.catalogue.probe import DURATION, FAILED, PROBES, TARGET_INFO, TOKENS, TTFT
from exporter.metrics.catalogue.server import COST
from exporter.metrics.catalogue.sla import THRESHOLD
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import PROBE, RATE, SLI, increase, quantile, rate
from grafana.panel import (
    BLUE,
    GREEN,
    ORANGE,
    PROMISE,
    RED,
    Query,
    alerts,
    column,
    override,
    stat,
    states,
    table,
    timeseries,
)
from grafana.promises import STATE_MEANS, STATES, broken, kept, left, objectives, state

WHERE = 'target=~"$target", model=~"$model"'
OPEN = {
    "title": "Open the target",
    "url": "/d/inference-target?var-target=${__value.text}&${__url_time_range}",
    "targetBlank": False,
}
SHARE = ((None, RED), (0.95, ORANGE), (0.99, GREEN))

ANSWER = Row(
    "Are the promises kept?",
    (
        line(
            5,
            stat(
                1,
                "Targets down",
                "Targets with a probe that had no success in two minutes.",
                Query(f"count(min by (target) ({state(WHERE)}) == 0) or vector(0)", "down"),
                unit="none",
                steps=((None, GREEN), (1, RED)),
                filled=True,
            ),
            stat(
                2,
                "Promises broken",
                "Objectives for which the alert InferenceSLABreach fires.",
                Query(f"count({broken(SLI, WHERE)}) or vector(0)", "broken"),
                unit="none",
                steps=((None, GREEN), (1, RED)),
                filled=True,
            ),
            stat(
                3,
                "Least budget left",
                "Of the breaches that the objective allows in the window; below 0 it is overdrawn.",
                Query(f"min({left(WHERE, '$window')})", "least"),
                unit="percentunit",
                decimals=0,
                steps=((None, RED), (0, ORANGE), (0.25, GREEN)),
                filled=True,
                nothing="no objective",
            ),
            stat(
                4,
                "Success",
                "Requests that ended well, in the window.",
                Query(
                    f"1 - sum(increase({FAILED.name}{{{WHERE}}}[$window]))"
                    f" / sum(increase({PROBES.name}{{{WHERE}}}[$window]))",
                    "success",
                ),
                unit="percentunit",
                decimals=2,
                steps=SHARE,
            ),
            stat(
                5,
                "Targets",
                "Configured ones.",
                Query(f"count(count by (target) ({TARGET_INFO.name}{{{WHERE}}}))", "targets"),
                unit="none",
            ),
            stat(
                6,
                "Exporters",
                "Exporters that answer Prometheus. With none the rest of this board is silent, not good.",
                Query('sum(up{job=~".*inference-exporter.*"})', "exporters"),
                unit="none",
                steps=((None, RED), (1, BLUE)),
                nothing="none",
            ),
            alerts(7, "Alerts", "What waits or fires in Prometheus. Each names its runbook."),
            widths=(3, 3, 3, 3, 3, 3, 6),
        ),
        line(
            7,
            states(
                10,
                "State",
                STATE_MEANS,
                Query(state(WHERE), "{{target}} {{probe}}"),
                mappings=(STATES,),
            ),
        ),
        line(
            8,
            table(
                11,
                "Targets",
                "P50, P95, P99, success and n are of the window chosen above. A P99 of fewer than 100 "
                "requests (n) is "
                "their maximum. Tokens/s: output tokens over wall time. Cost: of the probes, in the "
                "target's currency.",
                column(state(WHERE)),
                column(f"1 - {increase(PROBE, FAILED, WHERE)} / ({increase(PROBE, PROBES, WHERE)} > 0)"),
                column(rate(PROBE, PROBES, WHERE, "$window")),
                column(increase(PROBE, PROBES, WHERE)),
                *(column(quantile(q, PROBE, TTFT, WHERE)) for q in (0.5, 0.95, 0.99)),
                *(column(quantile(q, PROBE, DURATION, WHERE)) for q in (0.5, 0.95, 0.99)),
                column(rate(PROBE, TOKENS, f'{WHERE}, kind="output"', "$window")),
                column(increase(PROBE, COST, WHERE)),
                labels=("target", "model", "probe"),
                names=(
                    *("State", "Success", "Requests/s", "n", "TTFT P50", "TTFT P95", "TTFT P99"),
                    *("E2E P50", "E2E P95", "E2E P99", "Tokens/s", "Cost"),
                ),
                overrides=(
                    override(
                        "State",
                        ("mappings", [STATES]),
                        ("custom.cellOptions", {"type": "color-background", "mode": "basic"}),
                        ("custom.width", 90),
                    ),
                    override("Success", ("unit", "percentunit"), ("decimals", 2)),
                    override("/TTFT|E2E/", ("unit", "s"), regexp=True),
                    override("Requests/s", ("decimals", 3)),
                    override("n", ("decimals", 0), ("custom.width", 70)),
                    override("Tokens/s", ("decimals", 2)),
                    override("Cost", ("decimals", 4)),
                    override("target", ("links", [OPEN])),
                ),
                sort="State",
            ),
        ),
        line(9, objectives(12, WHERE, ("target", "model", "probe", "sli"))),
    ),
)
MOVES = Row(
    "How it moves",
    (
        line(
            9,
            timeseries(
                20,
                "TTFT P99 over the window",
                "Time to first token: arrival of the first token - first byte of the request sent.",
                Query(quantile(0.99, "target, probe", TTFT, WHERE), "{{target}} {{probe}}"),
                Query(
                    f'max by (target, probe) ({THRESHOLD.name}{{{WHERE}, sli=~"ttft_.*"}})',
                    "promised {{target}} {{probe}}",
                ),
                unit="s",
                overrides=(PROMISE,),
            ),
            timeseries(
                21,
                "E2E P99 over the window",
                "End to end: arrival of [DONE] - first byte of the request sent.",
                Query(quantile(0.99, "target, probe", DURATION, WHERE), "{{target}} {{probe}}"),
                Query(
                    f'max by (target, probe) ({THRESHOLD.name}{{{WHERE}, sli=~"e2e_.*"}})',
                    "promised {{target}} {{probe}}",
                ),
                unit="s",
                overrides=(PROMISE,),
            ),
        ),
        line(
            8,
            timeseries(
                22,
                "Promises kept over the window",
                "Share of requests within the objective that does worst; failures are breaches.",
                Query(
                    f"min by (target, probe) ({kept('target, probe, sli', WHERE, '$window')})",
                    "{{target}} {{probe}}",
                ),
                unit="percentunit",
                low=None,
                high=1,
            ),
            timeseries(
                23,
                "Failures",
                "Requests that ended badly, by reason.",
                Query(
                    f"sum by (target, reason) (increase({FAILED.name}{{{WHERE}}}[{RATE}])) > 0",
                    "{{target}} {{reason}}",
                ),
                unit="none",
                stacked=True,
                bars=True,
                decimals=0,
            ),
            timeseries(
                24,
                "Requests a second",
                "Probes that ended, well or not.",
                Query(rate("target", PROBES, WHERE), "{{target}}"),
                unit="reqps",
            ),
        ),
    ),
)

BOARD = board(
    "overview",
    "Overview",
    "Every target at a glance: state, promises, budget left, percentiles with their n.",
    (
        variable("target", "Target", f"label_values({TARGET_INFO.name}, target)"),
        variable("model", "Model", f'label_values({TARGET_INFO.name}{{target=~"$target"}}, model)'),
        WINDOW,
    ),
    (ANSWER, MOVES),
)
