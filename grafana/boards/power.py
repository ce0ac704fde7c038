"""Power and GPU: watts, joules for what was done with them, and what holds the chips down."""

from exporter.metrics.catalogue import gpu, power
from exporter.metrics.family import Family
from grafana.board import WINDOW, Row, board, line, variable
from grafana.expr import RATE, by, increase, rate
from grafana.panel import (
    GREEN,
    GREY,
    ORANGE,
    PROMISE,
    RED,
    Json,
    Query,
    column,
    override,
    stat,
    states,
    table,
    timeseries,
    values,
)

WHERE = 'instance=~"$instance", uuid=~"$uuid"'
HOST = 'instance=~"$instance"'
OF_TARGET = 'target=~"$target"'
ONE = "instance, uuid"
UP = values((1, "read", GREEN), (0, "lost", RED))
WORK = "Idle power included. Of the tokens asked for here: true of probes only where nobody else asks."


def shown(expr: str, before: str = "", after: str = "") -> Query:
    """Return a query whose legend has the end of the GPU's UUID, since all of it hides the curves."""
    return Query(
        f'label_replace({expr}, "gpu", "$1", "uuid", ".*(.{{6}})")',
        f"{before}{{{{instance}}}} ..{{{{gpu}}}}{after}",
    )


def course(
    number: int, title: str, family: Family, unit: str, meaning: str, *, high: float | None = None
) -> Json:
    """Return a gauge of each GPU over time."""
    queries = shown(by(ONE, "max", family, WHERE))
    return timeseries(number, title, meaning, queries, unit=unit, high=high)


def work(number: int, title: str, family: Family, unit: str, meaning: str) -> Json:
    """Return an efficiency of each target over time."""
    queries = Query(by("target, work", "max", family, OF_TARGET), "{{target}} {{work}}")
    return timeseries(number, title, f"{meaning} {WORK}", queries, unit=unit)


GLANCE = Row(
    "At a glance",
    (
        line(
            4,
            stat(
                1,
                "GPUs lost",
                "GPUs that were there before and cannot be read now.",
                Query(f"count({gpu.UP.name}{{{WHERE}}} == 0) or vector(0)", "lost"),
                unit="none",
                steps=((None, GREEN), (1, RED)),
                filled=True,
            ),
            stat(
                2,
                "Power now",
                "Of all GPUs chosen; of several scopes the widest, each GPU once.",
                Query(f"sum(max by ({ONE}) ({gpu.POWER.name}{{{WHERE}}}))", "power"),
                unit="watt",
                spark=True,
            ),
            stat(
                3,
                "Driver errors (XID)",
                "In the window.",
                Query(f"sum(increase({gpu.XIDS.name}{{{WHERE}}}[$window]))", "errors"),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, RED)),
                nothing="not reported",
            ),
            stat(
                4,
                "Uncorrected memory errors",
                "In the window.",
                Query(
                    f'sum(increase({gpu.ECC_ERRORS.name}{{{WHERE}, kind="uncorrected"}}[$window]))', "errors"
                ),
                unit="none",
                decimals=0,
                steps=((None, GREEN), (1, RED)),
                nothing="not reported",
            ),
            stat(
                5,
                "Hottest",
                "Temperature of the hottest chip.",
                Query(f"max({gpu.TEMPERATURE.name}{{{WHERE}}})", "hottest"),
                unit="celsius",
                steps=((None, GREEN), (80, ORANGE), (90, RED)),
            ),
            stat(
                6,
                "Held down",
                "GPUs whose clocks are held down for any reason.",
                Query(
                    f"count(max by ({ONE}) ({gpu.THROTTLE.name}{{{WHERE}}}) == 1) or vector(0)", "held down"
                ),
                unit="none",
                steps=((None, GREEN), (1, ORANGE)),
            ),
        ),
        line(
            8,
            table(
                7,
                "GPUs",
                "Mean power is the rate of the GPU's own energy counter: the truest of its figures. "
                "Utilization says that a kernel ran, not how full the chip was.",
                column(by(f"{ONE}, gpu_name, mig", "max", gpu.INFO, WHERE)),
                column(by(ONE, "min", gpu.UP, WHERE)),
                column(by(ONE, "max", gpu.POWER, WHERE)),
                column(f"max by ({ONE}) (rate({gpu.ENERGY.name}{{{WHERE}}}[{RATE}]))"),
                column(by(ONE, "max", gpu.POWER_LIMIT, WHERE)),
                column(by(ONE, "max", gpu.UTILIZATION, WHERE)),
                column(
                    f"{by(ONE, 'max', gpu.MEMORY_USED, WHERE)} / {by(ONE, 'max', gpu.MEMORY_TOTAL, WHERE)}"
                ),
                column(by(ONE, "max", gpu.TEMPERATURE, WHERE)),
                column(by(ONE, "max", gpu.CLOCK, f'{WHERE}, domain="sm"')),
                labels=("gpu_name", "uuid", "instance", "mig"),
                names=(
                    "",
                    "State",
                    "Power",
                    "Mean power",
                    "Limit",
                    "Utilization",
                    "Memory",
                    "Chip",
                    "Clock",
                ),
                overrides=(
                    override("State", ("mappings", [UP]), ("custom.cellOptions", {"type": "color-text"})),
                    override("/ower|Limit/", ("unit", "watt"), ("decimals", 0), regexp=True),
                    override("/Util|Memory/", ("unit", "percentunit"), ("decimals", 0), regexp=True),
                    override("Chip", ("unit", "celsius")),
                    override("gpu_name", ("custom.width", 220)),
                    override("uuid", ("custom.width", 330)),
                    override("Clock", ("unit", "hertz")),
                ),
            ),
        ),
    ),
)
WATTS = Row(
    "Watts and what holds them",
    (
        line(
            8,
            timeseries(
                10,
                "Power",
                "At the moment of the sample. The dashed line is the power cap.",
                shown(by(ONE, "max", gpu.POWER, WHERE)),
                shown(by(ONE, "max", gpu.POWER_LIMIT, WHERE), "cap "),
                unit="watt",
                overrides=(PROMISE,),
            ),
            timeseries(
                11,
                "Mean power, from energy",
                "Rate of the GPU's own energy counter. A gap to the power beside it is what polling misses.",
                shown(f"max by ({ONE}) (rate({gpu.ENERGY.name}{{{WHERE}}}[{RATE}]))"),
                unit="watt",
            ),
            timeseries(
                12,
                "Time held down",
                "Share of time, by reason, as the driver counts it.",
                shown(
                    f"max by ({ONE}, reason) (rate({gpu.THROTTLED.name}{{{WHERE}}}[{RATE}]))",
                    after=" {{reason}}",
                ),
                unit="percentunit",
            ),
        ),
        line(
            8,
            course(
                13,
                "Utilization",
                gpu.UTILIZATION,
                "percentunit",
                "Share of time in which any kernel ran.",
                high=1,
            ),
            course(14, "Temperature", gpu.TEMPERATURE, "celsius", "Of the chip."),
            course(15, "Memory in use", gpu.MEMORY_USED, "bytes", "Device memory."),
        ),
        line(
            8,
            timeseries(
                16,
                "Clocks",
                "A clock that falls under steady work is a chip that is held down.",
                shown(by(f"{ONE}, domain", "max", gpu.CLOCK, WHERE), after=" {{domain}}"),
                unit="hertz",
            ),
            timeseries(
                17,
                "Faults and errors",
                "Times that a GPU could not be read, by reason; driver errors; memory errors.",
                shown(increase(f"{ONE}, reason", gpu.FAULTS, WHERE, RATE), "lost: {{reason}} "),
                shown(increase(ONE, gpu.XIDS, WHERE, RATE), "XID "),
                shown(increase(f"{ONE}, kind", gpu.ECC_ERRORS, WHERE, RATE), "memory {{kind}} "),
                unit="none",
                decimals=0,
            ),
            states(
                18,
                "Readable",
                "lost: the GPU was there before and cannot be read now.",
                shown(by(ONE, "min", gpu.UP, WHERE)),
                mappings=(UP,),
            ),
        ),
    ),
)
EFFICIENCY = Row(
    "What it gives for the energy",
    (
        line(
            8,
            work(20, "Tokens a joule", power.TOKENS_PER_JOULE, "none", "Output tokens / joules."),
            work(21, "Joules a token", power.JOULES_PER_TOKEN, "joule", "Joules / output tokens."),
            timeseries(
                22,
                "Power of what serves a target",
                "From the source that the target's power: names.",
                Query(by("target", "max", power.TARGET_POWER, OF_TARGET), "{{target}}"),
                unit="watt",
            ),
        ),
    ),
)
SOURCES = Row(
    "Where it comes from",
    (
        line(
            7,
            states(
                30,
                "Sources",
                "Ways to read power on each host; none: it does not work or there is none.",
                Query(by("instance, source", "max", power.SOURCE_UP, HOST), "{{instance}} {{source}}"),
                mappings=(values((1, "works", GREEN), (0, "none", GREY)),),
            ),
            timeseries(
                31,
                "Restarts of the reader",
                "Times that the process that reads the devices was replaced, by reason.",
                Query(increase("instance, reason", power.RESTARTS, HOST, RATE), "{{instance}} {{reason}}"),
                unit="none",
                decimals=0,
            ),
            timeseries(
                32,
                "CPU packages and sensors",
                "Mean power from their energy. Sensors of different scopes overlap: do not add them up.",
                Query(
                    rate("instance, source, sensor", power.ZONE_ENERGY, HOST),
                    "{{instance}} {{source}} {{sensor}}",
                ),
                unit="watt",
            ),
        ),
    ),
)

BOARD = board(
    "power",
    "Power and GPU",
    "Watts, joules, efficiency, and what holds the chips down.",
    (
        variable("instance", "Exporter", f"label_values({power.WORKER_UP.name}, instance)"),
        variable("uuid", "GPU", f'label_values({gpu.UP.name}{{instance=~"$instance"}}, uuid)'),
        variable("target", "Target", f"label_values({power.TARGET_POWER_UP.name}, target)"),
        WINDOW,
    ),
    (GLANCE, WATTS, EFFICIENCY, SOURCES),
)
