"""Kernels: how fast attention runs on the local devices, and whether the figures may be believed."""

from exporter.metrics.catalogue import kernel
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import RATE, by, increase, rate
from grafana.panel import (
    GREEN,
    ORANGE,
    RED,
    Query,
    column,
    heatmap,
    override,
    stat,
    states,
    table,
    timeseries,
    values,
)

WHERE = 'device=~"$device", case=~"$case", dtype=~"$dtype"'
RUN = "case, variant, device, dtype"
NAMED = "{{case}} {{variant}} {{device}} {{dtype}}"
CASE = "case, device, dtype"

GLANCE = Row(
    "At a glance",
    (
        line(
            4,
            stat(
                1,
                "Benches",
                "off: the worker cannot import torch.",
                Query(f"min({kernel.SUPPORTED.name})", "benches"),
                unit="none",
                mappings=(values((1, "on", GREEN), (0, "off", RED)),),
                nothing="not run yet",
                filled=True,
            ),
            stat(
                2,
                "Wrong results",
                "Variants whose last result differed from float64's by more than the tolerance; these "
                "are not timed.",
                Query(f"count({kernel.CORRECT.name}{{{WHERE}}} == 0) or vector(0)", "wrong"),
                unit="none",
                steps=((None, GREEN), (1, RED)),
                filled=True,
            ),
            stat(
                3,
                "Runs without a time",
                "In the window, for whatever reason.",
                Query(f"sum(increase({kernel.RUN_FAILURES.name}{{{WHERE}}}[$window]))", "failed"),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, ORANGE)),
            ),
            stat(
                4,
                "Oldest suite",
                "Time since the suite that ran longest ago last ended.",
                Query(f"time() - min({kernel.LAST_RUN.name})", "age"),
                unit="s",
                decimals=0,
            ),
            stat(
                5,
                "sdpa over naive",
                "Median time of naive / that of scaled_dot_product_attention, the largest.",
                Query(
                    f'max(max by ({CASE}) ({kernel.MEDIAN.name}{{{WHERE}, variant="naive"}})'
                    f' / max by ({CASE}) ({kernel.MEDIAN.name}{{{WHERE}, variant="sdpa"}}))',
                    "speed-up",
                ),
                unit="none",
                decimals=2,
            ),
            stat(
                6,
                "Cost of benching",
                "Share of wall time in which a suite runs.",
                Query(f"sum(rate({kernel.BENCH_SECONDS.name}[$window]))", "share"),
                unit="percentunit",
                decimals=1,
            ),
        ),
        line(
            9,
            table(
                7,
                "Last run of every kernel",
                "Median of one call; CPU time on one thread on the CPU, time between two events on an "
                "accelerator. "
                "Wall / CPU far above 1: others wanted the core; the CPU time hardly moves with it.",
                column(by(RUN, "max", kernel.MEDIAN, WHERE)),
                column(by(RUN, "max", kernel.TOKENS_PER_SECOND, WHERE)),
                column(by(RUN, "max", kernel.FLOPS_PER_SECOND, WHERE)),
                column(by(RUN, "min", kernel.CORRECT, WHERE)),
                column(by(RUN, "max", kernel.RELATIVE_ERROR, WHERE)),
                column(by(RUN, "max", kernel.CONTENTION, WHERE)),
                labels=("case", "variant", "device", "dtype"),
                names=("Median", "Tokens/s", "FLOP/s", "Result", "Error", "Wall / CPU"),
                overrides=(
                    override("Median", ("unit", "s")),
                    override("FLOP/s", ("unit", "flops")),
                    override("Error", ("unit", "sci"), ("decimals", 1)),
                    override("Wall / CPU", ("decimals", 2)),
                    override(
                        "Result",
                        ("mappings", [values((1, "correct", GREEN), (0, "wrong", RED))]),
                        ("custom.cellOptions", {"type": "color-text"}),
                    ),
                ),
            ),
        ),
    ),
)
SPEED = Row(
    "How fast",
    (
        line(
            9,
            timeseries(
                10,
                "Median time of a call",
                "Of the last run. A step that stays is a regression; the log axis shows ratios as distances.",
                Query(by(RUN, "max", kernel.MEDIAN, WHERE), NAMED),
                unit="s",
                low=None,
                logarithmic=True,
                calcs=("min", "max", "lastNotNull"),
            ),
            timeseries(
                11,
                "Tokens a second",
                "New tokens of one call / its median time.",
                Query(by(RUN, "max", kernel.TOKENS_PER_SECOND, WHERE), NAMED),
                unit="none",
                calcs=("min", "max", "lastNotNull"),
            ),
        ),
        line(
            8,
            timeseries(
                12,
                "FLOP/s",
                "In closed form: projections and attention; softmax and biases are not counted.",
                Query(by(RUN, "max", kernel.FLOPS_PER_SECOND, WHERE), NAMED),
                unit="flops",
            ),
            timeseries(
                13,
                "sdpa over naive",
                "Median of naive / median of sdpa of the same case; 1 means no gain.",
                Query(
                    f'max by ({CASE}) ({kernel.MEDIAN.name}{{{WHERE}, variant="naive"}})'
                    f' / max by ({CASE}) ({kernel.MEDIAN.name}{{{WHERE}, variant="sdpa"}})',
                    "{{case}} {{device}} {{dtype}}",
                ),
                unit="none",
            ),
            heatmap(
                14,
                "Time of a call, every repeat",
                "Repeats a bucket and interval, all kernels chosen.",
                f"sum by (le) (increase({kernel.DURATION.name}_bucket{{{WHERE}}}[{RATE}]))",
                "s",
            ),
        ),
    ),
)
BELIEF = Row(
    "May it be believed?",
    (
        line(
            8,
            states(
                20,
                "Results against float64",
                "wrong: outside the tolerance, and not timed.",
                Query(by(RUN, "min", kernel.CORRECT, WHERE), NAMED),
                mappings=(values((1, "correct", GREEN), (0, "wrong", RED)),),
            ),
            timeseries(
                21,
                "Wall time over CPU time",
                "1 when the worker had a core for itself, more when others wanted it. Absent on "
                "accelerators.",
                Query(by(RUN, "max", kernel.CONTENTION, WHERE), NAMED),
                unit="none",
                low=None,
            ),
            timeseries(
                22,
                "Runs and failures",
                "Begun, and without a valid time by reason.",
                Query(increase("suite", kernel.RUNS, WHERE), "begun {{suite}}"),
                Query(increase("suite, reason", kernel.RUN_FAILURES, WHERE), "{{reason}} {{suite}}"),
                unit="none",
                decimals=0,
            ),
        ),
        line(
            7,
            table(
                23,
                "What ran",
                "The implementation that the framework chose in the last run, per kernel.",
                column(f"max by ({RUN}, backend) ({kernel.BACKEND.name}{{{WHERE}}}) == 1"),
                labels=("case", "variant", "device", "dtype", "backend"),
                names=("",),
            ),
            table(
                24,
                "Devices",
                "What the benches can use.",
                column(
                    f"max by (device, device_name, torch_version, threads) ({kernel.INFO.name}"
                    '{device=~"$device"})'
                ),
                labels=("device", "device_name", "torch_version", "threads"),
                names=("",),
            ),
            timeseries(
                25,
                "Cost of benching",
                "Share of wall time in which a suite runs.",
                Query(rate("suite", kernel.BENCH_SECONDS, window="$window"), "{{suite}}"),
                unit="percentunit",
            ),
        ),
    ),
)

BOARD = board(
    "kernels",
    "Kernels",
    "Attention kernels on the local devices: speed, and whether the figures may be believed.",
    (
        variable("device", "Device", f"label_values({kernel.RUNS.name}, device)"),
        variable("case", "Case", f'label_values({kernel.RUNS.name}{{device=~"$device"}}, case)'),
        variable("dtype", "Number format", f'label_values({kernel.RUNS.name}{{device=~"$device"}}, dtype)'),
        WINDOW,
    ),
    (GLANCE, SPEED, BELIEF),
)
