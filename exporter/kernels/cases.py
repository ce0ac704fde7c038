"""Every case there is: data only."""

from dataclasses import replace

from exporter.model.attention import AttentionShape
from exporter.model.kernel import Dtype, KernelCase, Variant
from exporter.model.work import CopyShape, MatmulShape

_V = Variant
FORCED = (_V.SDPA_MATH, _V.SDPA_FLASH, _V.SDPA_EFFICIENT, _V.SDPA_CUDNN)
ALL_PREFILL = (_V.NAIVE, _V.FUSED_QKV, _V.SDPA, *FORCED, _V.NN_MHA)
DECODE = (_V.NAIVE, _V.SDPA, _V.SDPA_MATH, _V.CACHE_CAT)
GROUPED = (_V.NAIVE, _V.SDPA, _V.REPEAT_KV, _V.CACHE_CAT)
COMPILED = (_V.SDPA, _V.COMPILED, _V.FLEX)

_KILL_S = 7.0
"""On top of a case's budget: the call that was going on when it was used up."""


def _article(name: str, dim: int) -> KernelCase:
    shape = AttentionShape(batch=4, query_len=128, kv_len=128, dim=dim, heads=8, kv_heads=8)
    return KernelCase(
        name=name,
        work=shape,
        variants=(_V.NAIVE, _V.SDPA),
        warmup=5,
        repeats=20,
        budget_s=3.0,
        deadline_s=3.0 + _KILL_S,
    )


ARTICLE = _article("article", 512)
"""Multi-head attention as the founding article benches it: dim 512, 8 heads, batch 4, sequence 128."""
ARTICLE_DIM1024 = replace(_article("article_dim1024", 1024), budget_s=8.0, deadline_s=8.0 + _KILL_S)
"""The article's second step: twice the width, four times the projections."""


def attention_case(
    name: str, shape: AttentionShape, variants: tuple[Variant, ...], *, dtype: Dtype, budget_s: float
) -> KernelCase:
    """Return a case with our usual number of calls; ``budget_s`` is for all its variants together."""
    return KernelCase(
        name=name,
        work=shape,
        dtype=dtype,
        variants=variants,
        warmup=2,
        repeats=20,
        budget_s=budget_s,
        deadline_s=budget_s + _KILL_S,
    )


def prefill(
    length: int,
    variants: tuple[Variant, ...],
    *,
    dtype: Dtype = Dtype.FLOAT32,
    causal: bool = False,
    budget_s: float = 25.0,
) -> KernelCase:
    """One sequence at width 1024 with 16 heads."""
    shape = AttentionShape(
        batch=1, query_len=length, kv_len=length, dim=1024, heads=16, kv_heads=16, causal=causal
    )
    name = f"prefill_{length}" + ("_causal" if causal else "")
    return attention_case(name, shape, variants, dtype=dtype, budget_s=budget_s)


def decode(
    batch: int,
    thousands: int,
    variants: tuple[Variant, ...] = DECODE,
    *,
    dtype: Dtype = Dtype.FLOAT32,
    kv_heads: int = 16,
    budget_s: float = 25.0,
) -> KernelCase:
    """One new token a sequence, whose cache holds ``thousands`` x 1024 tokens, itself included."""
    shape = AttentionShape(
        batch=batch, query_len=1, kv_len=1024 * thousands, dim=1024, heads=16, kv_heads=kv_heads
    )
    group = {16: "", 4: "_gqa", 1: "_mqa"}[kv_heads]
    return attention_case(
        f"decode_b{batch}_{thousands}k{group}", shape, variants, dtype=dtype, budget_s=budget_s
    )


def varlen(*, dtype: Dtype = Dtype.FLOAT32, budget_s: float = 25.0) -> KernelCase:
    """Four sequences of different lengths, half of the padded tokens real."""
    shape = AttentionShape(
        batch=4, query_len=512, kv_len=512, dim=1024, heads=16, kv_heads=16, lengths=(512, 320, 128, 64)
    )
    variants = (_V.NAIVE, _V.SDPA, _V.NESTED)
    return attention_case("varlen", shape, variants, dtype=dtype, budget_s=budget_s)


def matmul(
    size: int,
    dtype: Dtype = Dtype.FLOAT32,
    variants: tuple[Variant, ...] = (_V.MATMUL,),
    budget_s: float = 2.0,
) -> KernelCase:
    """Return the ceiling of computing in one number format."""
    return KernelCase(
        name=f"matmul_{size}",
        work=MatmulShape(size=size),
        dtype=dtype,
        variants=variants,
        warmup=2,
        repeats=20,
        budget_s=budget_s,
        deadline_s=budget_s + _KILL_S,
    )


def copy(mebibytes: int, budget_s: float = 2.0) -> KernelCase:
    """Return the ceiling of moving data; the copy is far larger than any cache."""
    return KernelCase(
        name=f"copy_{mebibytes}m",
        work=CopyShape(copied_bytes=mebibytes << 20),
        variants=(_V.COPY,),
        warmup=1,
        repeats=10,
        budget_s=budget_s,
        deadline_s=budget_s + _KILL_S,
    )
