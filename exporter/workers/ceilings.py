"""What the device can do at most: a matrix product in each number format, and a copy."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from exporter.model.kernel import Dtype, Variant
from exporter.model.work import CopyShape, MatmulShape
from exporter.workers.attention_material import SEED
from exporter.workers.correctness import poison_free_memory, relative_error

_CHECKED_ROWS = 64
_TILE = 1 << 18

Built = tuple[Callable[[], Tensor], Callable[[], float | None]]
"""The call and its check."""


def build(
    work: MatmulShape | CopyShape, variant: Variant, name: Dtype, dtype: torch.dtype, device: torch.device
) -> Built:
    """Return a ceiling's call and check.

    Raises:
        ValueError: the variant is no ceiling of this work.
    """
    if isinstance(work, CopyShape) and variant is Variant.COPY:
        return _copy(work, device)
    if isinstance(work, MatmulShape) and variant in {Variant.MATMUL, Variant.LINEAR}:
        if name in {Dtype.FLOAT8, Dtype.INT8} and variant is Variant.MATMUL:
            raise ValueError(f"{name} is multiplied in the layout of {Variant.LINEAR} only")
        return _product(work.size, variant, name, dtype, device)
    raise ValueError(f"{variant} is no ceiling of {work}")


def _copy(work: CopyShape, device: torch.device) -> Built:
    # Random, but not all of it drawn: that would take ten times as long as the copies.
    numbers = work.copied_bytes // 4
    tile = torch.randn(min(numbers, _TILE), generator=_seeded(device), device=device)
    source = tile.repeat(-(-numbers // len(tile)))[:numbers]
    target = torch.full_like(source, math.nan)

    def call() -> Tensor:
        return target.copy_(source)

    def error() -> float | None:
        target.fill_(math.nan)
        return 0.0 if torch.equal(call(), source) else None

    return call, error


def _product(size: int, variant: Variant, name: Dtype, dtype: torch.dtype, device: torch.device) -> Built:
    a, b = (_matrix(size, dtype, device, offset) for offset in (0, 1))
    multiply = _multiplication(variant, name, device)
    second = b if variant is Variant.MATMUL else b.t()

    def call() -> Tensor:
        return multiply(a, b)

    def error() -> float | None:
        poison_free_memory(torch.empty(size, size, device=device))
        result = call()
        if not torch.isfinite(result).all():
            return None
        step = max(1, size // _CHECKED_ROWS)
        exact = a[::step].to("cpu", torch.float64) @ second.to("cpu", torch.float64)
        return relative_error(result[::step], exact)

    return call, error


def _multiplication(
    variant: Variant, name: Dtype, device: torch.device
) -> Callable[[Tensor, Tensor], Tensor]:
    """Return the operation for a format; only one layout exists where the format is a special case."""
    if name is Dtype.FLOAT8:
        one = torch.ones((), device=device)
        return lambda a, b: torch._scaled_mm(  # noqa: SLF001 - the only way to it
            a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16
        )
    if name is Dtype.INT8:
        return lambda a, b: torch._int_mm(a, b.t())  # noqa: SLF001 - likewise
    return torch.matmul if variant is Variant.MATMUL else functional.linear


def _matrix(size: int, dtype: torch.dtype, device: torch.device, offset: int) -> Tensor:
    generator = _seeded(device, offset)
    if dtype is torch.int8:
        return torch.randint(-100, 100, (size, size), generator=generator, device=device, dtype=dtype)
    return torch.randn(size, size, generator=generator, device=device).to(dtype)


def _seeded(device: torch.device, offset: int = 0) -> torch.Generator:
    return torch.Generator(device=device).manual_seed(SEED + offset)
