"""What a kernel bench measures: cases, the ways to write them, and the runs they make."""

from dataclasses import dataclass
from enum import StrEnum

from exporter.model.work import Work


class Variant(StrEnum):
    """How the same work is written."""

    NAIVE = "naive"
    """Scores, softmax and weighted sum as three framework calls, as in the founding article."""
    FUSED_QKV = "fused_qkv"
    """One projection for q, k and v, then ``scaled_dot_product_attention``."""
    SDPA = "sdpa"
    """The framework's ``scaled_dot_product_attention``, its own choice of backend; the cache in place."""
    SDPA_MATH = "sdpa_math"
    SDPA_FLASH = "sdpa_flash"
    SDPA_EFFICIENT = "sdpa_efficient"
    SDPA_CUDNN = "sdpa_cudnn"
    NN_MHA = "nn_mha"
    """The framework's ``nn.MultiheadAttention``."""
    COMPILED = "compiled"
    """``torch.compile`` of the naive form."""
    FLEX = "flex"
    """Compiled FlexAttention."""
    CACHE_CAT = "cache_cat"
    """The cache grows by ``torch.cat``, a copy each step, as much user code does."""
    REPEAT_KV = "repeat_kv"
    """Grouped queries by ``repeat_interleave`` of keys and values instead of ``enable_gqa``."""
    NESTED = "nested"
    """Sequences of different lengths as one jagged tensor instead of padding."""
    MATMUL = "matmul"
    """a @ b: a ceiling."""
    LINEAR = "linear"
    """a @ b.T, the layout of a layer's weights: the other ceiling; far faster where a @ b has no kernel."""
    COPY = "copy"

    @property
    def compiles(self) -> bool:
        """Whether the first call builds code, which takes from seconds to half a minute."""
        return self in {Variant.COMPILED, Variant.FLEX}


class Backend(StrEnum):
    """Which implementation ran; chosen by the framework, often silently."""

    EAGER = "eager"
    MATH = "math"
    FLASH = "flash"
    EFFICIENT = "efficient"
    CUDNN = "cudnn"
    OVERRIDEABLE = "overrideable"
    NATIVE = "native"
    """The fast path of ``nn.MultiheadAttention``."""
    COMPILED = "compiled"
    LIBRARY = "library"
    """A matrix product or copy of the framework's libraries."""


class Dtype(StrEnum):
    """Number formats that a case can use."""

    FLOAT32 = "float32"
    TF32 = "tf32"
    """float32 numbers, multiplied with ten bits of mantissa: accelerators only."""
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"
    FLOAT8 = "float8_e4m3"
    INT8 = "int8"

    @property
    def bytes(self) -> int:
        """Bytes of one number."""
        wide = {Dtype.FLOAT32: 4, Dtype.TF32: 4, Dtype.BFLOAT16: 2, Dtype.FLOAT16: 2}
        return wide.get(self, 1)

    @property
    def tolerance(self) -> float:
        """Largest norm of the error over the norm of the float64 result that counts as correct.

        The reference gets the same rounded inputs, so what is left is arithmetic.  Measured on CPU: 2e-7 to
        5e-7 for every variant in float32 and 2e-3 to 7e-3 in bfloat16.  Integers are exact.
        """
        return {
            Dtype.FLOAT32: 1e-5,
            Dtype.TF32: 3e-3,
            Dtype.BFLOAT16: 1e-2,
            Dtype.FLOAT16: 1e-2,
            Dtype.FLOAT8: 8e-2,
            Dtype.INT8: 1e-9,
        }[self]


class Verdict(StrEnum):
    """How one bench run ended; only ``ok`` has a timing.  The source of its label ``reason``."""

    OK = "ok"
    CONTENDED = "contended"
    """Others used the processor or the accelerator meanwhile."""
    THROTTLED = "throttled"
    """The device slowed its clock for heat or power meanwhile."""
    TOO_FEW_SAMPLES = "too_few_samples"
    INCORRECT = "incorrect"
    OVER_PEAK = "over_peak"
    """Faster than the device can be: the clock or the peak is wrong."""
    WINDOW_SHORT = "window_short"
    """Too short for the clock's resolution."""
    BACKEND_UNAVAILABLE = "backend_unavailable"
    PREDICTED_COST = "predicted_cost"
    """A forecast said that it would not fit into the time or memory left, so it was not begun."""
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
    """One thing to measure: the work, the numbers, the ways to write it, and how often."""

    name: str
    work: Work
    dtype: Dtype = Dtype.FLOAT32
    variants: tuple[Variant, ...]
    warmup: int
    """Calls before the clock, at least 1."""
    repeats: int
    """Calls on the clock, at least 2."""
    budget_s: float
    """What all variants together may take on one device before the worker stops repeating."""
    deadline_s: float
    """When the worker is killed over them: more than the budget, since one call cannot be interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRun:
    """One case in one variant on one device (``cpu``, ``cuda:N``, ...)."""

    case: KernelCase
    variant: Variant
    device: str

    @property
    def labels(self) -> tuple[str, str, str, str]:
        """Label values in the order case, variant, device, dtype."""
        return (self.case.name, self.variant.value, self.device, self.case.dtype.value)
