"""What a kernel bench measures and what it found."""

import statistics
from dataclasses import dataclass
from enum import StrEnum

from exporter.model.attention import AttentionShape, total_flops


class Variant(StrEnum):
    """How the same attention is written."""

    NAIVE = "naive"
    """Scores, softmax and weighted sum as three framework calls."""
    SDPA = "sdpa"
    """The framework's ``scaled_dot_product_attention``."""


class Backend(StrEnum):
    """Which implementation ran; chosen by the framework, often silently."""

    EAGER = "eager"
    MATH = "math"
    FLASH = "flash"
    EFFICIENT = "efficient"
    CUDNN = "cudnn"
    OVERRIDEABLE = "overrideable"


class Dtype(StrEnum):
    """Number formats that a case can use."""

    FLOAT32 = "float32"

    @property
    def bytes(self) -> int:
        """Bytes of one number."""
        return {Dtype.FLOAT32: 4}[self]

    @property
    def tolerance(self) -> float:
        """Largest norm of the error over the norm of the float64 result that counts as correct.

        Measured on CPU: 2e-7 to 5e-7 for every variant in float32, so a hundred times that leaves room
        for another order of summation and none for a wrong result.
        """
        return {Dtype.FLOAT32: 1e-5}[self]


class Verdict(StrEnum):
    """How one bench run ended; only ``ok`` has a timing.  The source of its label ``reason``."""

    OK = "ok"
    INCORRECT = "incorrect"
    OUT_OF_MEMORY = "out_of_memory"
    ERROR = "error"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    BAD_OUTPUT = "bad_output"
    NOT_STARTED = "not_started"


FAILED_VERDICTS: tuple[Verdict, ...] = tuple(v for v in Verdict if v is not Verdict.OK)
"""Every value the label ``reason`` of a kernel run can take, in a stable order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCase:
    """One thing to measure: the shape, the numbers, and how often."""

    name: str
    shape: AttentionShape
    dtype: Dtype = Dtype.FLOAT32
    variants: tuple[Variant, ...] = tuple(Variant)
    warmup: int
    """Calls before the clock, at least 1."""
    repeats: int
    """Calls on the clock, at least 2."""
    deadline_s: float
    """Longest that one variant may take on one device, set-up and correctness check included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRun:
    """One case in one variant on one device (``cpu`` or ``cuda:N``)."""

    case: KernelCase
    variant: Variant
    device: str

    @property
    def labels(self) -> tuple[str, str, str, str]:
        """Label values in the order case, variant, device, dtype."""
        return (self.case.name, self.variant.value, self.device, self.case.dtype.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What the worker saw.  Times are seconds, one of each kind a repeat; all empty when incorrect."""

    backend: Backend
    relative_error: float | None
    """Norm of the error over the norm of the float64 result; None when an output was not finite."""
    correct: bool
    wall_s: tuple[float, ...] = ()
    cpu_s: tuple[float, ...] = ()
    """CPU time of the whole worker process."""
    device_s: tuple[float, ...] = ()
    """Time between two events on the accelerator; empty on the CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Quartiles of the repeats in seconds, and their number."""

    q1_s: float
    median_s: float
    q3_s: float
    n: int

    @classmethod
    def of(cls, times_s: tuple[float, ...]) -> "Summary":
        """Summarise at least two times; the quartiles are interpolated between the samples."""
        q1, median, q3 = statistics.quantiles(times_s, n=4, method="inclusive")
        return cls(q1_s=q1, median_s=median, q3_s=q3, n=len(times_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelResult:
    """The end of one run.  ``measurement`` is None when the worker gave none."""

    run: KernelRun
    verdict: Verdict
    detail: str = ""
    """One line for people."""
    measurement: Measurement | None = None

    @property
    def times_s(self) -> tuple[float, ...]:
        """Seconds of each repeat on the clock that counts; empty unless the verdict is ok.

        On an accelerator that is the time between two events.  On the CPU it is the process's CPU time
        on one thread: under foreign load its median moved by a factor of 1.4, wall time's by 8.
        """
        if self.measurement is None or self.verdict is not Verdict.OK:
            return ()
        return self.measurement.device_s or self.measurement.cpu_s

    @property
    def summary(self) -> Summary | None:
        """Quartiles of ``times_s``; None unless the verdict is ok."""
        return Summary.of(self.times_s) if self.times_s else None

    @property
    def tokens_per_second(self) -> float | None:
        """Batch x query length / median; None unless the verdict is ok."""
        return None if self.summary is None else self.run.case.shape.tokens / self.summary.median_s

    @property
    def flops_per_second(self) -> float | None:
        """FLOP of one call (closed form) / median; None unless the verdict is ok."""
        return None if self.summary is None else total_flops(self.run.case.shape) / self.summary.median_s

    @property
    def wall_to_cpu_ratio(self) -> float | None:
        """Median wall time / median CPU time of a CPU run: 1 alone on a core, more when others wanted it."""
        if self.measurement is None or not self.times_s or self.measurement.device_s:
            return None
        return statistics.median(self.measurement.wall_s) / statistics.median(self.measurement.cpu_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFound:
    """A device that the worker can use: ``cpu`` or ``cuda:N``, and its product name."""

    device: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the numbers depend on besides the case."""

    torch_version: str
    threads: int
    """Threads of one CPU operation."""
    devices: tuple[DeviceFound, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """One run of a suite, however it ended."""

    suite: str
    supported: bool | None
    """False: torch is missing or cannot be imported; None: the worker died before it could say."""
    detail: str = ""
    """Why it is not supported, one line for people."""
    environment: Environment | None = None
    absent: tuple[str, ...] = ()
    """Devices that were asked for and are not there."""
    results: tuple[KernelResult, ...] = ()
    seconds: float
    """Wall time of the whole run, the start of the worker included."""
    finished_unix_s: float
