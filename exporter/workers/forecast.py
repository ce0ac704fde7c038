"""What a case would cost, from an eighth of it, before it is begun.

One call of the naive form in bfloat16 took 18 s on a CPU without instructions for it, where float32 took
1.4 s: no table says so beforehand, and a call cannot be interrupted.
"""

import dataclasses
import time
from collections.abc import Mapping

import torch

from exporter.adapters import machine
from exporter.model.attention import AttentionShape
from exporter.model.kernel import KernelCase, Variant
from exporter.model.work import flops, moved_bytes, reduced
from exporter.workers.accelerators.base import Accelerator
from exporter.workers.subjects import Workshop

COMPILE_S = 30.0
"""The first call of a compiled variant took from 0.6 to 24 s."""
EXTRA_CALLS = 3
"""The check calls twice, the look at the backend once."""
MEMORY_SHARE = 0.6
_MATERIALISED = frozenset({Variant.NAIVE, Variant.SDPA_MATH, Variant.NN_MHA, Variant.COMPILED})
"""Forms that keep whole matrices of scores."""


def seconds_a_call(
    case: KernelCase, variants: tuple[Variant, ...], device: torch.device, accelerator: Accelerator | None
) -> dict[Variant, float]:
    """Return the seconds that one call of each variant would take; a variant that fails here costs nothing
    yet."""
    small = reduced(case.work)
    if small == case.work:
        return dict.fromkeys(variants, 0.0)
    more = max(
        flops(case.work) / max(1, flops(small)),
        moved_bytes(case.work, case.dtype.bytes) / moved_bytes(small, case.dtype.bytes),
    )
    workshop = Workshop(dataclasses.replace(case, work=small), device)
    return {v: 0.0 if v.compiles else more * _one_call(workshop, v, device, accelerator) for v in variants}


def _one_call(
    workshop: Workshop, variant: Variant, device: torch.device, accelerator: Accelerator | None
) -> float:
    try:
        call = workshop.build(variant).call
        times = []
        for _ in range(2):  # the first may load code
            start = time.perf_counter()
            call()
            if accelerator is not None:
                accelerator.wait(device)
            times.append(time.perf_counter() - start)
    except (RuntimeError, ValueError, TypeError):
        return 0.0
    return min(times)


def affordable(
    case: KernelCase, seconds: Mapping[Variant, float], left_s: float, min_repeats: int
) -> frozenset[Variant]:
    """Return the variants that fit into the time left with the fewest repeats that count, the cheapest
    first."""
    admitted, spent = set(), 0.0
    calls = case.warmup + min_repeats + EXTRA_CALLS
    for variant, one in sorted(seconds.items(), key=lambda item: (item[0].compiles, item[1])):
        cost = one * calls + (COMPILE_S if variant.compiles else 0.0)
        if spent + cost <= left_s:
            admitted.add(variant)
            spent += cost
    return frozenset(admitted)


def needed_bytes(case: KernelCase, variant: Variant) -> int:
    """Return roughly what a variant allocates: its numbers, and its scores where it writes them down."""
    size = 2 * moved_bytes(case.work, case.dtype.bytes)
    shape = case.work
    if isinstance(shape, AttentionShape) and variant in _MATERIALISED:
        size += 3 * shape.batch * shape.heads * shape.query_len * shape.kv_len * case.dtype.bytes
    return size


def fits(case: KernelCase, variant: Variant, device: torch.device, accelerator: Accelerator | None) -> bool:
    """Tell whether the memory for a variant is there, with a margin for everyone else."""
    free = accelerator.free_bytes(device) if accelerator else machine.available_bytes()
    return free is None or needed_bytes(case, variant) <= MEMORY_SHARE * free
