"""Families of the local GPUs, by UUID.

What a GPU does not give is absent, and so is everything but ``inference_gpu_up`` and the counts of faults
while it cannot be read.  Counters are the device's own: they go on over a restart of the exporter and fall
to 0 when the driver is loaded again.
"""

from exporter.metrics.family import Family, Type
from exporter.model.power import Fault, Scope, Throttle

_GPU = ("uuid",)
_SCOPED = ("uuid", "scope")
_SCOPES = (("scope", (Scope.GPU.value, Scope.MODULE.value, Scope.BOARD.value)),)
_FAULTS = (("reason", tuple(map(str, Fault))),)
_REASONS = (("reason", tuple(map(str, Throttle))),)
DIRECTIONS = ("sent", "received")


def _gauge(name: str, help_: str, unit: str = "", labels: tuple[str, ...] = _GPU) -> Family:
    return Family(name=name, type=Type.GAUGE, help=help_, unit=unit, labels=labels)


def _counter(name: str, help_: str, unit: str = "", labels: tuple[str, ...] = _GPU) -> Family:
    return Family(name=name, type=Type.COUNTER, help=help_, unit=unit, labels=labels)


UP = _gauge(
    "inference_gpu_up",
    "1 if the GPU was read in the last sample, 0 for one that was there before and cannot be read now.",
)
INFO = Family(
    name="inference_gpu_info",
    type=Type.GAUGE,
    labels=("uuid", "gpu", "gpu_name", "driver_version", "mig"),
    closed=(("mig", ("on", "off", "none")),),
    help="1, with the GPU's index (which moves), product name, driver version, and whether the board is cut "
    "into MIG slices.",
)
FAULT = Family(
    name="inference_gpu_fault",
    type=Type.GAUGE,
    labels=("uuid", "reason"),
    closed=_FAULTS,
    help="1 for the reason why the GPU cannot be read now; absent while it can.",
)
FAULTS = Family(
    name="inference_gpu_faults_total",
    type=Type.COUNTER,
    labels=("uuid", "reason"),
    closed=_FAULTS,
    help="Times that the GPU could no longer be read, by reason.",
)
RECOVERIES = _counter("inference_gpu_recoveries_total", "Times that the GPU could be read again.")
POWER = Family(
    name="inference_gpu_power_watts",
    type=Type.GAUGE,
    unit="watts",
    labels=_SCOPED,
    closed=_SCOPES,
    help="Power at the moment of the sample, not averaged by the driver. The scope module includes a "
    "superchip's CPU; board is the whole board, MIG slices included.",
)
AVERAGE_POWER = Family(
    name="inference_gpu_power_average_watts",
    type=Type.GAUGE,
    unit="watts",
    labels=_SCOPED,
    closed=_SCOPES,
    help="Power as the driver averages it, over 1 s; it lags behind a step by that much.",
)
POWER_LIMIT = _gauge(
    "inference_gpu_power_limit_watts", "The power cap in force, from whoever set the lowest.", "watts"
)
DEFAULT_POWER_LIMIT = _gauge(
    "inference_gpu_power_default_limit_watts", "The power cap that the GPU has out of the box.", "watts"
)
IDLE_POWER = _gauge(
    "inference_gpu_idle_power_watts",
    "Mean power over the last stretch of at least 10 s with utilization 0; absent until there was one.",
    "watts",
)
ENERGY = Family(
    name="inference_gpu_energy_joules_total",
    type=Type.COUNTER,
    unit="joules",
    labels=_SCOPED,
    closed=_SCOPES,
    help="The GPU's own energy counter since the driver was loaded; its rate is the true mean power.",
)
DISAGREEMENT = _gauge(
    "inference_gpu_energy_disagreement_ratio",
    "Energy counter / polled power over the same minute - 1: how far the two can be trusted here.",
    "ratio",
)
UTILIZATION = _gauge(
    "inference_gpu_utilization_ratio",
    "Share of the driver's last sample period in which any kernel ran, 0 to 1; says nothing of how full.",
    "ratio",
)
MEMORY_UTILIZATION = _gauge(
    "inference_gpu_memory_utilization_ratio",
    "Share of that period in which device memory was read or written, 0 to 1.",
    "ratio",
)
MEMORY_USED = _gauge("inference_gpu_memory_used_bytes", "Device memory in use.", "bytes")
MEMORY_TOTAL = _gauge("inference_gpu_memory_total_bytes", "Device memory.", "bytes")
TEMPERATURE = _gauge("inference_gpu_temperature_celsius", "Temperature of the chip.", "celsius")
MEMORY_TEMPERATURE = _gauge(
    "inference_gpu_memory_temperature_celsius", "Temperature of the memory.", "celsius"
)
CLOCK = Family(
    name="inference_gpu_clock_hertz",
    type=Type.GAUGE,
    unit="hertz",
    labels=("uuid", "domain"),
    closed=(("domain", ("sm", "memory")),),
    help="Clock now.",
)
THROTTLE = Family(
    name="inference_gpu_throttle_active",
    type=Type.GAUGE,
    labels=("uuid", "reason"),
    closed=_REASONS,
    help="1 if the clocks are held down for this reason at the moment of the sample, else 0.",
)
THROTTLED = Family(
    name="inference_gpu_throttle_seconds_total",
    type=Type.COUNTER,
    unit="seconds",
    labels=("uuid", "reason"),
    closed=_REASONS,
    help="Time that the clocks were held down for this reason, as the driver counts it; for a reason that it "
    "does not count there is no series.",
)
ECC_ERRORS = Family(
    name="inference_gpu_ecc_errors_total",
    type=Type.COUNTER,
    labels=("uuid", "kind"),
    closed=(("kind", ("corrected", "uncorrected")),),
    help="Memory errors since the driver was loaded.",
)
REMAPPED_ROWS = Family(
    name="inference_gpu_remapped_rows",
    type=Type.GAUGE,
    labels=("uuid", "kind"),
    closed=(("kind", ("corrected", "uncorrected")),),
    help="Memory rows that were replaced by spare ones, by the errors that made it necessary.",
)
REMAP_PENDING = _gauge(
    "inference_gpu_row_remap_pending", "1 if a row is replaced at the next reset of the GPU, else 0."
)
REMAP_FAILED = _gauge(
    "inference_gpu_row_remap_failed", "1 if a row could not be replaced: the GPU needs repair; else 0."
)
XIDS = _counter(
    "inference_gpu_xid_errors_total",
    "Error events of the driver since the exporter started; absent where they do not reach it.",
)
LAST_XID = Family(
    name="inference_gpu_xid_last_timestamp_seconds",
    type=Type.GAUGE,
    unit="seconds",
    labels=("uuid", "xid"),
    help="When an error event with this code last came, Unix time; NVIDIA's list of XIDs has the codes.",
)
PCIE = Family(
    name="inference_gpu_pcie_bytes_total",
    type=Type.COUNTER,
    unit="bytes",
    labels=("uuid", "direction"),
    closed=(("direction", DIRECTIONS),),
    help="Bytes over PCIe, as the GPU counts them.",
)
NVLINK = Family(
    name="inference_gpu_nvlink_bytes_total",
    type=Type.COUNTER,
    unit="bytes",
    labels=("uuid", "direction"),
    closed=(("direction", DIRECTIONS),),
    help="Payload bytes over all NVLinks, as the GPU counts them.",
)
PROCESS_MEMORY = Family(
    name="inference_gpu_process_memory_bytes",
    type=Type.GAUGE,
    unit="bytes",
    labels=("uuid", "pid"),
    help="Device memory of each process, with power.processes only; process ids are the host's.",
)

GPU: tuple[Family, ...] = (
    *(UP, INFO, FAULT, FAULTS, RECOVERIES),
    *(POWER, AVERAGE_POWER, POWER_LIMIT, DEFAULT_POWER_LIMIT, IDLE_POWER, ENERGY, DISAGREEMENT),
    *(UTILIZATION, MEMORY_UTILIZATION, MEMORY_USED, MEMORY_TOTAL, TEMPERATURE, MEMORY_TEMPERATURE, CLOCK),
    *(THROTTLE, THROTTLED, ECC_ERRORS, REMAPPED_ROWS, REMAP_PENDING, REMAP_FAILED, XIDS, LAST_XID),
    *(PCIE, NVLINK, PROCESS_MEMORY),
)
