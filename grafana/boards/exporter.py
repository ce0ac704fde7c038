"""Exporter: whether what measures is fit to measure."""

from exporter.metrics.catalogue import process, service
from exporter.metrics.catalogue.kernel import BENCH_SECONDS
from exporter.metrics.catalogue.probe import INVALID, KERNEL_STAMPS, LATENESS
from exporter.metrics.catalogue.schedule import CRASHES, LAG, MISSED
from exporter.metrics.catalogue.sla import UNDECIDED
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import RATE, by, increase, quantile, rate
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

WHERE = 'job=~"$job", instance=~"$instance"'
ONE = "job, instance"
LATE = ((None, GREEN), (0.01, ORANGE), (0.1, RED))
"""At 0.1 s InferenceClientLate waits to fire."""

AT_A_GLANCE = Row(
    "At a glance",
    (
        line(
            4,
            stat(
                1,
                "Exporters that answer",
                "Scraped in the last interval, out of those that Prometheus knows.",
                Query(f"sum(up{{{WHERE}}})", "up"),
                unit="none",
                steps=((None, RED), (1, GREEN)),
            ),
            stat(
                2,
                "Lateness in reading (P99)",
                "How long received bytes waited in the kernel. No latency contains it: those use the "
                "kernel's "
                "stamps. The alert InferenceClientLate waits above 0.1 s.",
                Query(quantile(0.99, "", LATENESS, WHERE), "P99"),
                unit="s",
                steps=LATE,
                spark=True,
            ),
            stat(
                3,
                "Schedule lag (P99)",
                "Start of a probe - its slot. Latencies count from the start.",
                Query(quantile(0.99, "", LAG, WHERE), "P99"),
                unit="s",
                steps=LATE,
                spark=True,
            ),
            stat(
                4,
                "Slots without a measurement",
                "In the window, for whatever cause.",
                Query(f"sum(increase({MISSED.name}{{{WHERE}}}[$window]))", "missed"),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, ORANGE), (100, RED)),
                spark=True,
            ),
            stat(
                5,
                "Runs that crashed or overran",
                "Defects of the exporter, in the window; the log says where.",
                Query(f"sum(increase({CRASHES.name}{{{WHERE}}}[$window]))", "crashes"),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, RED)),
            ),
            widths=(4, 5, 5, 5, 5),
        ),
        line(
            6,
            table(
                6,
                "Exporters",
                "Version, age, configuration and cost of each process.",
                column(by(f"{ONE}, version, python_version", "max", service.BUILD_INFO, WHERE)),
                column(f"time() - {by(ONE, 'max', service.START_TIME, WHERE)}"),
                column(by(ONE, "min", service.RELOAD_SUCCESSFUL, WHERE)),
                column(f"time() - {by(ONE, 'max', service.RELOAD_TIMESTAMP, WHERE)}"),
                column(by(ONE, "max", "scrape_duration_seconds", WHERE)),
                column(by(ONE, "max", "scrape_samples_scraped", WHERE)),
                labels=("instance", "version", "python_version"),
                hidden=("job",),
                names=("", "Up for", "Last reload", "Loaded", "Scrape takes", "Series"),
                overrides=(
                    override("Up for", ("unit", "s"), ("decimals", 1)),
                    override("Loaded", ("unit", "s"), ("decimals", 1)),
                    override("Scrape takes", ("unit", "s")),
                    override(
                        "Last reload",
                        ("mappings", [values((1, "accepted", GREEN), (0, "refused", RED))]),
                        ("custom.cellOptions", {"type": "color-text"}),
                    ),
                ),
            ),
            states(
                7,
                "Configuration",
                "Whether the last load was accepted; while refused the former configuration runs on.",
                Query(by(ONE, "min", service.RELOAD_SUCCESSFUL, WHERE), "{{instance}}"),
                mappings=(values((1, "accepted", GREEN), (0, "refused", RED)),),
            ),
            widths=(16, 8),
        ),
    ),
)
TIME = Row(
    "Does it come in time?",
    (
        line(
            8,
            timeseries(
                10,
                "Schedule lag",
                "Start of a probe - its slot, over all probes.",
                Query(quantile(0.99, "instance", LAG, WHERE, RATE), "P99 {{instance}}"),
                Query(quantile(0.5, "instance", LAG, WHERE, RATE), "P50 {{instance}}"),
                unit="s",
            ),
            timeseries(
                11,
                "Lateness in reading",
                "Read time - kernel stamp, over all targets; part of no latency.",
                Query(quantile(0.99, "instance", LATENESS, WHERE, RATE), "P99 {{instance}}"),
                Query(quantile(0.5, "instance", LATENESS, WHERE, RATE), "P50 {{instance}}"),
                unit="s",
            ),
            timeseries(
                12,
                "Event-loop lag",
                "How much later than asked a timer of the event loop fired.",
                Query(quantile(0.99, "instance", service.LOOP_LAG, WHERE, RATE), "P99 {{instance}}"),
                Query(quantile(0.5, "instance", service.LOOP_LAG, WHERE, RATE), "P50 {{instance}}"),
                unit="s",
            ),
        ),
        line(
            8,
            heatmap(
                13,
                "Schedule lag, all probes",
                "Probes a bucket and interval. A band that thickens upwards is a host that is too busy.",
                f"sum by (le) (increase({LAG.name}_bucket{{{WHERE}}}[{RATE}]))",
                "s",
            ),
            timeseries(
                14,
                "Slots without a measurement",
                "By cause, a minute. overrun: the run before had not ended; busy: a load test had the "
                "target; "
                "late: after its grace.",
                Query(f"60 * {rate('cause', MISSED, WHERE)}", "{{cause}}"),
                unit="none",
                stacked=True,
            ),
        ),
    ),
)
TRUTH = Row(
    "Are the values good?",
    (
        line(
            7,
            timeseries(
                20,
                "Values not observed",
                "Error bound above 1 ms and 5 % of the value: counted, in no histogram.",
                Query(increase("clock", INVALID, WHERE, RATE), "{{clock}}"),
                unit="none",
                stacked=True,
            ),
            timeseries(
                21,
                "Requests that are neither good nor a breach",
                "The error bound of their latency straddles the threshold.",
                Query(increase("sli", UNDECIDED, WHERE, RATE), "{{sli}}"),
                unit="none",
                stacked=True,
            ),
            states(
                22,
                "Where stamps come from",
                "Of the last answer of each probe. By this process: its scheduling adds to every clock.",
                Query(by("target, probe", "min", KERNEL_STAMPS, WHERE), "{{target}} {{probe}}"),
                mappings=(values((1, "kernel", GREEN), (0, "this process", ORANGE)),),
            ),
        ),
    ),
)
COST = Row(
    "What it costs",
    (
        line(
            7,
            timeseries(
                30,
                "CPU",
                "Cores of the exporter itself, and of kernel benches as wall time of their runs.",
                Query(rate("instance", process.CPU, WHERE), "exporter {{instance}}"),
                Query(rate("instance", BENCH_SECONDS, WHERE), "benches {{instance}}"),
                unit="none",
            ),
            timeseries(
                31,
                "Memory",
                "Resident memory of the exporter; its children are not in it.",
                Query(by("instance", "max", process.RESIDENT, WHERE), "{{instance}}"),
                unit="bytes",
            ),
            timeseries(
                32,
                "File descriptors",
                "Open ones.",
                Query(by("instance", "max", process.OPEN_FDS, WHERE), "open {{instance}}"),
                unit="none",
            ),
            timeseries(
                33,
                "Scrapes",
                "How long Prometheus waits for /metrics.",
                Query(by("instance", "max", "scrape_duration_seconds", WHERE), "{{instance}}"),
                unit="s",
            ),
        ),
    ),
)

BOARD = board(
    "exporter",
    "Exporter",
    "Whether the exporter is fit to measure: in time, undisturbed, affordable.",
    (
        variable("job", "Job", f"label_values({service.BUILD_INFO.name}, job)"),
        variable("instance", "Exporter", f'label_values({service.BUILD_INFO.name}{{job=~"$job"}}, instance)'),
        WINDOW,
    ),
    (AT_A_GLANCE, TIME, TRUTH, COST),
    since="now-1h",
)
