"""Families that the Prometheus client library adds about this process, on Linux."""

from exporter.metrics.family import Family, Type

CPU = Family(
    name="process_cpu_seconds_total",
    type=Type.COUNTER,
    unit="seconds",
    help="User and system CPU time of this process; children that run benches are not in it.",
)
RESIDENT = Family(
    name="process_resident_memory_bytes",
    type=Type.GAUGE,
    unit="bytes",
    help="Resident memory size of this process.",
)
VIRTUAL = Family(
    name="process_virtual_memory_bytes",
    type=Type.GAUGE,
    unit="bytes",
    help="Virtual memory size of this process.",
)
OPEN_FDS = Family(name="process_open_fds", type=Type.GAUGE, help="Open file descriptors.")
MAX_FDS = Family(name="process_max_fds", type=Type.GAUGE, help="Limit of open file descriptors.")
STARTED = Family(
    name="process_start_time_seconds",
    type=Type.GAUGE,
    unit="seconds",
    help="When this process started, Unix time, to the host's clock tick.",
)

PROCESS: tuple[Family, ...] = (CPU, RESIDENT, VIRTUAL, OPEN_FDS, MAX_FDS, STARTED)
