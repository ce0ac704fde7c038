"""What a sampling of the local devices' power finds: one ``Snapshot`` a tick, made of readings.

A value that a device does not give is None, never 0.  ``at_s`` is seconds of the host's monotonic clock,
which is the same in every process of the host.
"""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where readings come from; the source of the label ``source``."""

    NVML = "nvml"
    AMDSMI = "amdsmi"
    RAPL = "rapl"
    HWMON = "hwmon"


class Fault(StrEnum):
    """Why a source or a device gives no values; the source of the label ``reason``."""

    NO_LIBRARY = "no_library"
    NO_DRIVER = "no_driver"
    NO_DEVICE = "no_device"
    NO_PERMISSION = "no_permission"
    UNINITIALIZED = "uninitialized"
    VERSION_MISMATCH = "version_mismatch"
    LOST = "lost"
    RESET_REQUIRED = "reset_required"
    HUNG = "hung"
    UNKNOWN = "unknown"
    WORKER = "worker"


class Scope(StrEnum):
    """What a number of watts or joules covers; scopes of one machine overlap and are never added up."""

    GPU = "gpu"
    """One accelerator with its memory, as its driver reports it."""
    MODULE = "module"
    """A superchip: the accelerator and the CPU beside it."""
    BOARD = "board"
    """A whole board, also when it is cut into several logical devices (MIG)."""
    CPU_PACKAGE = "cpu_package"
    """One CPU socket (or die) with its cores."""
    RAIL = "rail"
    """One supply line of a board."""
    MACHINE = "machine"
    """The whole computer, measured by its power supply or firmware."""


class Throttle(StrEnum):
    """Why clocks are lower than they could be; the source of the label ``reason`` of throttle metrics."""

    IDLE = "idle"
    APPLICATION_CLOCKS = "application_clocks"
    SW_POWER_CAP = "sw_power_cap"
    HW_SLOWDOWN = "hw_slowdown"
    SYNC_BOOST = "sync_boost"
    SW_THERMAL = "sw_thermal"
    HW_THERMAL = "hw_thermal"
    HW_POWER_BRAKE = "hw_power_brake"
    DISPLAY_CLOCKS = "display_clocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttled:
    """Seconds that the clocks were held down for one reason, since the driver was loaded."""

    reason: Throttle
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProcess:
    """Device memory of one process; the id is the host's, which a container may not know."""

    pid: int
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuAbout:
    """What a GPU is.  ``index`` moves when devices come and go; the UUID does not."""

    index: int
    name: str
    driver: str
    mig: bool | None
    """Whether the board is cut into slices; None where it cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One look at one GPU.  With a ``fault`` there are no values."""

    source: Source
    uuid: str
    at_s: float
    """When the energy counter (or the power) was read."""
    fault: Fault | None = None
    detail: str = ""
    about: GpuAbout | None = None
    scope: Scope = Scope.GPU
    power_w: float | None = None
    """Now, not averaged by the driver."""
    average_power_w: float | None = None
    """Averaged by the driver, over 1 s."""
    power_limit_w: float | None = None
    """The cap in force."""
    default_power_limit_w: float | None = None
    energy_j: float | None = None
    """Counter since the driver was loaded; moves in ticks of about 100 ms."""
    utilization: float | None = None
    """Share of the driver's last sample period in which a kernel ran, 0 to 1; says nothing of how full."""
    memory_utilization: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    temperature_c: float | None = None
    memory_temperature_c: float | None = None
    sm_clock_hz: float | None = None
    memory_clock_hz: float | None = None
    throttles: tuple[Throttle, ...] | None = None
    """Reasons in force now; None where the driver does not say."""
    throttled: tuple[Throttled, ...] = ()
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    rows_corrected: int | None = None
    """Memory rows remapped because of correctable errors."""
    rows_uncorrected: int | None = None
    rows_pending: bool | None = None
    rows_failed: bool | None = None
    pcie_sent_bytes: int | None = None
    pcie_received_bytes: int | None = None
    nvlink_sent_bytes: int | None = None
    nvlink_received_bytes: int | None = None
    watches_xid: bool = False
    """Whether error events of this GPU reach us."""
    processes: tuple[GpuProcess, ...] = ()

    @property
    def energy_scope(self) -> Scope:
        """What the energy counter covers: the GPU, also where watts are known for the whole module only."""
        return Scope.GPU if self.scope is Scope.MODULE else self.scope

    @property
    def comparable_power_w(self) -> float | None:
        """Power now, where it covers what the energy counter covers."""
        return self.power_w if self.scope is self.energy_scope else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneReading:
    """One look at a power zone of the host that is no GPU with a driver library: a CPU package, a sensor."""

    source: Source
    zone: str
    scope: Scope
    at_s: float
    power_w: float | None = None
    energy_j: float | None = None
    """Counter, which falls to 0 after ``wrap_j``."""
    wrap_j: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """Whether a source can be read; ``detail`` is one line for people with the next step."""

    source: Source
    fault: Fault | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid:
    """An error event of the driver; the code's meaning is in NVIDIA's list of XID errors."""

    uuid: str
    code: int
    unix_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything that could be read in one tick."""

    at_s: float
    sources: tuple[SourceState, ...] = ()
    gpus: tuple[GpuReading, ...] = ()
    zones: tuple[ZoneReading, ...] = ()
    xids: tuple[Xid, ...] = ()
