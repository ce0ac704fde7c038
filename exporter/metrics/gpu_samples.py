"""What is known about the GPUs, as tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from exporter.metrics.catalogue import gpu as names
from exporter.metrics.family import Family, Table
from exporter.model.power import GpuReading, Throttle
from exporter.model.power_view import GpuView

Rows = dict[tuple[str, ...], float]
Value = Callable[[GpuReading], float | None]

_BY_UUID: tuple[tuple[Family, Value], ...] = (
    (names.POWER_LIMIT, lambda r: r.power_limit_w),
    (names.DEFAULT_POWER_LIMIT, lambda r: r.default_power_limit_w),
    (names.UTILIZATION, lambda r: r.utilization),
    (names.MEMORY_UTILIZATION, lambda r: r.memory_utilization),
    (names.MEMORY_USED, lambda r: r.memory_used_bytes),
    (names.MEMORY_TOTAL, lambda r: r.memory_total_bytes),
    (names.TEMPERATURE, lambda r: r.temperature_c),
    (names.MEMORY_TEMPERATURE, lambda r: r.memory_temperature_c),
    (names.REMAP_PENDING, lambda r: r.rows_pending),
    (names.REMAP_FAILED, lambda r: r.rows_failed),
)
_BY_SCOPE: tuple[tuple[Family, Value], ...] = (
    (names.POWER, lambda r: r.power_w),
    (names.AVERAGE_POWER, lambda r: r.average_power_w),
)
_BY_LABEL: tuple[tuple[Family, tuple[tuple[str, Value], ...]], ...] = (
    (names.CLOCK, (("sm", lambda r: r.sm_clock_hz), ("memory", lambda r: r.memory_clock_hz))),
    (
        names.ECC_ERRORS,
        (("corrected", lambda r: r.ecc_corrected), ("uncorrected", lambda r: r.ecc_uncorrected)),
    ),
    (
        names.REMAPPED_ROWS,
        (("corrected", lambda r: r.rows_corrected), ("uncorrected", lambda r: r.rows_uncorrected)),
    ),
    (names.PCIE, (("sent", lambda r: r.pcie_sent_bytes), ("received", lambda r: r.pcie_received_bytes))),
    (
        names.NVLINK,
        (("sent", lambda r: r.nvlink_sent_bytes), ("received", lambda r: r.nvlink_received_bytes)),
    ),
)
_MIG = {True: "on", False: "off", None: "none"}


def of_gpus(gpus: Iterable[GpuView]) -> Iterator[Table]:
    """Yield one table for each family about GPUs."""
    gpus = tuple(gpus)
    readings = [gpu.reading for gpu in gpus if gpu.reading is not None]
    yield from _health(gpus)
    for family, value in _BY_UUID:
        yield _table(family, (((r.uuid,), value(r)) for r in readings))
    for family, value in _BY_SCOPE:
        yield _table(family, (((r.uuid, r.scope), value(r)) for r in readings))
    yield _table(names.ENERGY, (((r.uuid, r.energy_scope), r.energy_j) for r in readings))
    for family, values in _BY_LABEL:
        yield _table(family, (((r.uuid, label), value(r)) for r in readings for label, value in values))
    yield _table(names.IDLE_POWER, (((gpu.uuid,), gpu.idle_w) for gpu in gpus))
    yield _table(names.DISAGREEMENT, (((gpu.uuid,), gpu.disagreement) for gpu in gpus))
    yield from _throttles(readings)
    yield _table(names.XIDS, (((gpu.uuid,), gpu.xids) for gpu in gpus))
    last: Rows = {(gpu.uuid, str(code)): unix_s for gpu in gpus for code, unix_s in gpu.last_xids}
    yield Table(names.LAST_XID, last)
    memory: Rows = {(r.uuid, str(p.pid)): float(p.memory_bytes) for r in readings for p in r.processes}
    yield Table(names.PROCESS_MEMORY, memory)


def _health(gpus: Sequence[GpuView]) -> Iterator[Table]:
    faults: Rows = {(g.uuid, g.health.fault): 1.0 for g in gpus if g.health.fault is not None}
    counts: Rows = {(g.uuid, reason): float(n) for g in gpus for reason, n in g.health.faults}
    about = [(gpu.uuid, gpu.reading.about) for gpu in gpus if gpu.reading is not None]
    yield Table(names.UP, {(gpu.uuid,): float(gpu.reading is not None) for gpu in gpus})
    yield Table(
        names.INFO,
        {(uuid, str(a.index), a.name, a.driver, _MIG[a.mig]): 1.0 for uuid, a in about if a is not None},
    )
    yield Table(names.FAULT, faults)
    yield Table(names.FAULTS, counts)
    yield Table(names.RECOVERIES, {(gpu.uuid,): float(gpu.health.recoveries) for gpu in gpus})


def _throttles(readings: Sequence[GpuReading]) -> Iterator[Table]:
    active: Rows = {
        (r.uuid, reason): float(reason in r.throttles)
        for r in readings
        if r.throttles is not None
        for reason in Throttle
    }
    seconds: Rows = {(r.uuid, each.reason): each.seconds for r in readings for each in r.throttled}
    yield Table(names.THROTTLE, active)
    yield Table(names.THROTTLED, seconds)


def _table(family: Family, rows: Iterable[tuple[tuple[str, ...], float | None]]) -> Table:
    return Table(family, {labels: float(value) for labels, value in rows if value is not None})
