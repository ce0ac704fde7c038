"""Anything that can be checked and timed: a call, its error, and what it ran on."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from exporter.model.attention import AttentionShape
from exporter.model.kernel import Backend, Dtype, KernelCase, Variant
from exporter.workers import ceilings, correctness
from exporter.workers.attention_material import Material, make
from exporter.workers.attention_variants import VARIANTS

_DTYPES = {
    Dtype.FLOAT32: torch.float32,
    Dtype.TF32: torch.float32,
    Dtype.BFLOAT16: torch.bfloat16,
    Dtype.FLOAT16: torch.float16,
    Dtype.FLOAT8: torch.float8_e4m3fn,
    Dtype.INT8: torch.int8,
}
_PROFILED = (
    ("_scaled_dot_product_cudnn_attention", Backend.CUDNN),
    ("_scaled_dot_product_efficient_attention", Backend.EFFICIENT),
    ("_scaled_dot_product_flash_attention", Backend.FLASH),
    ("_flash_attention_forward", Backend.FLASH),
    ("_efficient_attention_forward", Backend.EFFICIENT),
    ("_native_multi_head_attention", Backend.NATIVE),
    ("_scaled_dot_product_attention_math", Backend.MATH),
)
"""Names of operations that only one backend has, the innermost first."""

_references: OrderedDict[tuple[object, ...], correctness.Reference] = OrderedDict()
_MAX_REFERENCES = 16


@dataclass(frozen=True)
class Subject:
    """One way to do the work."""

    call: Callable[[], Tensor]
    error: Callable[[], float | None]
    """Relative error against float64; None: not as finite as it has to be."""
    backend: Callable[[], Backend]


class Workshop:
    """Builds the subjects of one case on one device; they share its numbers."""

    def __init__(self, case: KernelCase, device: torch.device) -> None:
        self._case = case
        self._device = device
        self._dtype = _DTYPES[case.dtype]
        self._material: Material | None = None

    def build(self, variant: Variant) -> Subject:
        """Return the subject of a variant.

        Raises:
            ValueError: the variant cannot do this work.
            RuntimeError: torch cannot do it here.
        """
        work = self._case.work
        if isinstance(work, AttentionShape):
            return self._attention(work, variant)
        call, error = ceilings.build(work, variant, self._case.dtype, self._dtype, self._device)
        return Subject(call, error, lambda: Backend.LIBRARY)

    def _attention(self, shape: AttentionShape, variant: Variant) -> Subject:
        if variant not in VARIANTS:
            raise ValueError(f"{variant} is no way to write attention")
        material = self._material = self._material or make(shape, self._dtype, self._device)
        attention = VARIANTS[variant](material)

        def call() -> Tensor:
            return attention(material.x)

        def error() -> float | None:
            return correctness.error_of(attention, material, self._reference(material))

        def backend() -> Backend:
            return attention.backend(material.x) or _profiled(call, variant)

        return Subject(call, error, backend)

    def _reference(self, material: Material) -> correctness.Reference:
        # Seed and shape decide the numbers, so a warm worker need not compute the same reference every time.
        key = (material.shape, self._dtype, str(self._device))
        if key not in _references:
            _references[key] = correctness.reference_of(material)
            while len(_references) > _MAX_REFERENCES:
                _references.popitem(last=False)
        _references.move_to_end(key)
        return _references[key]


def _profiled(call: Callable[[], Tensor], variant: Variant) -> Backend:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
    names = " ".join(event.key for event in profile.key_averages())
    otherwise = Backend.COMPILED if variant.compiles else Backend.EAGER
    return next((backend for word, backend in _PROFILED if word in names), otherwise)
