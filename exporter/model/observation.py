"""What a kernel worker reports of one case: the bare observations, before anyone judges them."""

from dataclasses import dataclass
from enum import StrEnum

from exporter.model.kernel import Backend, Variant, Verdict


class TimeSource(StrEnum):
    """The clock that counts."""

    PROCESS_CPU = "process_cpu"
    """CPU time of the worker on one thread: other work moved its median by a factor of 1.4, wall time's by
    8."""
    WALL = "wall"
    """On several threads, where CPU time is no latency."""
    DEVICE_EVENTS = "device_events"
    """Time between two events on an accelerator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Times are seconds, one of each kind a repeat; all empty when the result was incorrect."""

    backend: Backend
    relative_error: float | None
    """Norm of the error over the norm of the float64 result; None when an output was not as finite as it
    should be: a number where not-a-number had to come out, or the other way round."""
    correct: bool
    clock: TimeSource
    wall_s: tuple[float, ...] = ()
    cpu_s: tuple[float, ...] = ()
    """CPU time of the whole worker process."""
    device_s: tuple[float, ...] = ()
    """Empty on the CPU."""
    preemptions: tuple[int, ...] = ()
    """How often the kernel took the CPU away within each repeat; empty where that is not known."""
    graphed: bool = False
    """Whether the call was replayed from a graph, which leaves out the time to launch its kernels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One variant of the case; ``measurement`` is there when the verdict is ok or incorrect."""

    variant: Variant
    verdict: Verdict
    detail: str = ""
    measurement: Measurement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What else went on while the variants of one case were timed."""

    window_s: float
    """Wall time that the other fields refer to."""
    cores: int
    """Processors of the machine."""
    foreign_cpu_s: float | None
    """CPU time that everyone but the worker used in the window, stolen time included; None: not known."""
    throttled: tuple[str, ...] = ()
    """Why the device lowered its clock within the window; empty: it did not, or nobody can tell."""
    other_processes: int | None = None
    """Others that compute on the same accelerator; None: not known, or the device is the CPU."""

    @property
    def foreign_cores(self) -> float | None:
        """Processors that others used on average; None: not known."""
        if self.foreign_cpu_s is None or self.window_s <= 0:
            return None
        return self.foreign_cpu_s / self.window_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The answer for one case on one device: variants in the order asked for."""

    seen: tuple[Seen, ...]
    conditions: Conditions | None
    """None when nothing was timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFound:
    """A device that the worker can use, and what its numbers depend on; empty or None: not known."""

    device: str
    """``cpu``, ``cuda:N``, ..."""
    name: str
    """The product name that the driver gives."""
    driver: str = ""
    runtime: str = ""
    """Version of the compute runtime (CUDA, ...)."""
    power_limit_w: float | None = None
    governor: str = ""
    """CPU frequency governor."""
    virtual: bool = False
    """Whether a hypervisor shares it out: then its speed varies for reasons nobody here can see."""
    partition: bool = False
    """A slice of an accelerator (MIG): the whole one's peak is not its own."""
    other_processes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the numbers depend on besides the case."""

    torch_version: str
    threads: int
    """Threads of one CPU operation."""
    devices: tuple[DeviceFound, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How many calls had ended at a moment of the machine's monotonic clock, in seconds."""

    monotonic_s: float
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sustained:
    """A variant that ran without a pause: marks in order, the first with 0 calls."""

    marks: tuple[Mark, ...]
