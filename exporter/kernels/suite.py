"""Which cases a suite runs, on which kind of device, and what it may take: data only."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from exporter.kernels import cases
from exporter.kernels.cases import ARTICLE, ARTICLE_DIM1024
from exporter.model.attention import AttentionShape
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import Dtype, KernelCase, KernelRun, Variant

_ACCELERATORS_ONLY = frozenset({Variant.SDPA_EFFICIENT, Variant.SDPA_CUDNN})
"""No CPU build of the framework has them, so there they are no failure but nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases that run together.  No case of the suite starts later than ``deadline_s`` after its begin."""

    name: str
    about: str
    """One sentence for people."""
    on_cpu: tuple[KernelCase, ...]
    on_accelerator: tuple[KernelCase, ...]
    deadline_s: float
    warm: bool = False
    """Whether its worker is kept for the next run, since importing torch costs more than the suite."""
    fresh: bool = False
    """Whether each case gets a new worker, so that none inherits memory, caches or a broken state."""
    ceilings_again: bool = False
    """Whether the ceilings are measured a second time at the end: their drift tells how calm the run was."""
    energy_s: float | None = None
    """How long one variant of each attention case runs under an energy meter; None: not at all."""

    def cases_on(self, device: str) -> tuple[KernelCase, ...]:
        """Return the cases for a device, ceilings first, each with the variants that can exist there."""
        chosen = self.on_cpu if device == "cpu" else self.on_accelerator
        if device == "cpu":
            chosen = tuple(_for_cpu(case) for case in chosen)
        return tuple(sorted(chosen, key=lambda case: isinstance(case.work, AttentionShape)))

    def runs_on(self, devices: tuple[str, ...]) -> tuple[KernelRun, ...]:
        """Return every case in every variant on every one of the devices, device by device."""
        return tuple(
            KernelRun(case=case, variant=variant, device=device)
            for device in devices
            for case in self.cases_on(device)
            for variant in case.variants
        )


def _for_cpu(case: KernelCase) -> KernelCase:
    return replace(case, variants=tuple(v for v in case.variants if v not in _ACCELERATORS_ONLY))


_BOTH = (Variant.MATMUL, Variant.LINEAR)
_BF16, _FP16, _TF32 = Dtype.BFLOAT16, Dtype.FLOAT16, Dtype.TF32
_LIGHT_CPU = (ARTICLE, cases.decode(1, 2, (Variant.SDPA,), budget_s=1.0), cases.matmul(512), cases.copy(64))
_LIGHT_ACCELERATOR = (
    ARTICLE,
    cases.prefill(2048, (Variant.SDPA,), dtype=_BF16, budget_s=2.0),
    cases.decode(8, 2, (Variant.SDPA,), dtype=_BF16, budget_s=2.0),
    cases.matmul(4096),
    cases.matmul(4096, _BF16),
    cases.copy(256),
)
_HOURLY_CPU = (
    *_LIGHT_CPU,
    cases.prefill(512, (Variant.NAIVE, Variant.SDPA, Variant.SDPA_MATH), budget_s=5.0),
    cases.decode(8, 2, cases.GROUPED, kv_heads=4, budget_s=5.0),
)
_HOURLY_ACCELERATOR = (
    *_LIGHT_ACCELERATOR,
    cases.prefill(512, (Variant.NAIVE, Variant.SDPA, Variant.SDPA_MATH), dtype=_BF16, budget_s=3.0),
    cases.decode(8, 2, cases.GROUPED, dtype=_BF16, kv_heads=4, budget_s=3.0),
)


def _short(dtype: Dtype) -> KernelCase:
    return replace(
        ARTICLE,
        name="prefill_short",
        dtype=dtype,
        variants=cases.ALL_PREFILL,
        budget_s=20.0,
        deadline_s=30.0,
    )


def _matrix(dtypes: tuple[Dtype, ...]) -> tuple[KernelCase, ...]:
    """Return the full matrix in some number formats, the most telling cases first."""
    return tuple(
        case
        for dtype in dtypes
        for case in (
            cases.prefill(2048, cases.ALL_PREFILL, dtype=dtype),
            cases.prefill(512, cases.ALL_PREFILL, dtype=dtype),
            cases.prefill(2048, cases.ALL_PREFILL, dtype=dtype, causal=True),
            cases.decode(1, 2, dtype=dtype),
            cases.decode(8, 2, dtype=dtype),
            cases.decode(8, 2, cases.GROUPED, dtype=dtype, kv_heads=4),
            cases.decode(8, 2, cases.GROUPED, dtype=dtype, kv_heads=1),
            cases.varlen(dtype=dtype),
            _short(dtype),
            cases.decode(1, 8, dtype=dtype),
            cases.decode(8, 8, dtype=dtype),
            cases.decode(32, 2, dtype=dtype),
            cases.decode(1, 32, dtype=dtype),
            cases.decode(32, 8, dtype=dtype),
            cases.decode(8, 32, dtype=dtype),
            cases.decode(32, 32, dtype=dtype),
            cases.prefill(8192, cases.ALL_PREFILL, dtype=dtype),
            cases.prefill(8192, (Variant.SDPA, Variant.SDPA_FLASH), dtype=dtype, causal=True),
        )
    )


def _compiled(dtype: Dtype) -> KernelCase:
    case = cases.prefill(2048, cases.COMPILED, dtype=dtype, budget_s=100.0)
    return replace(case, name="prefill_2048_compiled", deadline_s=140.0)


_NIGHTLY_CPU = (
    cases.matmul(1024, Dtype.FLOAT32, _BOTH, budget_s=10.0),
    cases.matmul(1024, _BF16, _BOTH, budget_s=20.0),
    cases.matmul(1024, Dtype.INT8, (Variant.LINEAR,), budget_s=10.0),
    cases.copy(256, budget_s=5.0),
    ARTICLE,
    ARTICLE_DIM1024,
    *_matrix((Dtype.FLOAT32, _BF16)),
    _compiled(Dtype.FLOAT32),
)
_NIGHTLY_ACCELERATOR = (
    *(cases.matmul(8192, dtype, _BOTH, budget_s=5.0) for dtype in (_BF16, _FP16, _TF32, Dtype.FLOAT32)),
    *(cases.matmul(8192, dtype, (Variant.LINEAR,), budget_s=5.0) for dtype in (Dtype.FLOAT8, Dtype.INT8)),
    cases.copy(1024, budget_s=5.0),
    ARTICLE,
    ARTICLE_DIM1024,
    *_matrix((_BF16, _FP16, _TF32, Dtype.FLOAT32)),
    _compiled(_BF16),
)
_BACKEND_MAP = (Variant.NAIVE, Variant.SDPA, *cases.FORCED)

SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        suite.name: suite
        for suite in (
            Suite(
                name="light",
                about="The article's case, a decode step and both ceilings: at most 2 s of work, "
                "meant for every 5 minutes.",
                on_cpu=_LIGHT_CPU,
                on_accelerator=_LIGHT_ACCELERATOR,
                deadline_s=30.0,
                warm=True,
            ),
            Suite(
                name="hourly",
                about="light, longer prefill, grouped queries, and energy where there is a meter: 15 s.",
                on_cpu=_HOURLY_CPU,
                on_accelerator=_HOURLY_ACCELERATOR,
                deadline_s=60.0,
                energy_s=2.5,
            ),
            Suite(
                name="nightly",
                about="Every variant, length, cache and number format, each case in a process of its own: "
                "at most 15 minutes.",
                on_cpu=_NIGHTLY_CPU,
                on_accelerator=_NIGHTLY_ACCELERATOR,
                deadline_s=900.0,
                fresh=True,
                ceilings_again=True,
                energy_s=5.5,
            ),
            Suite(
                name="once",
                about="The article's two cases, a map of which backend works, and the ceilings: 60 s.",
                on_cpu=(
                    *(cases.matmul(1024, dtype, _BOTH, 5.0) for dtype in (Dtype.FLOAT32, _BF16)),
                    cases.copy(256),
                    *(ARTICLE, ARTICLE_DIM1024),
                    *(
                        cases.prefill(512, _BACKEND_MAP, dtype=d, budget_s=10.0)
                        for d in (Dtype.FLOAT32, _BF16)
                    ),
                ),
                on_accelerator=(
                    *(cases.matmul(4096, dtype, _BOTH) for dtype in (Dtype.FLOAT32, _TF32, _BF16, _FP16)),
                    *(cases.matmul(4096, dtype, (Variant.LINEAR,)) for dtype in (Dtype.FLOAT8, Dtype.INT8)),
                    cases.copy(256),
                    *(ARTICLE, ARTICLE_DIM1024),
                    *(
                        cases.prefill(512, _BACKEND_MAP, dtype=d, budget_s=5.0)
                        for d in (_BF16, Dtype.FLOAT32)
                    ),
                ),
                deadline_s=90.0,
            ),
        )
    }
)
"""Every suite there is, by the name that the configuration and the command line use."""


def known_runs(plan: BenchPlan) -> tuple[KernelRun, ...]:
    """Return the runs of a plan that are certain before a worker ran: of "every device", those on ``cpu``."""
    return SUITES[plan.suite].runs_on(plan.devices or ("cpu",))
