"""Small shapes of every kind."""

import dataclasses

from exporter.model.attention import AttentionShape
from exporter.model.kernel import Dtype, KernelCase, Variant

SMALL = AttentionShape(batch=2, query_len=16, kv_len=16, dim=32, heads=4, kv_heads=4)
CAUSAL = dataclasses.replace(SMALL, causal=True)
GROUPED = dataclasses.replace(SMALL, kv_heads=2)
DECODE = dataclasses.replace(SMALL, query_len=1, kv_len=40)
DECODE_GROUPED = dataclasses.replace(DECODE, kv_heads=1, causal=True)
VARLEN = dataclasses.replace(SMALL, batch=3, lengths=(16, 7, 1))

V = Variant
PLAIN = (V.NAIVE, V.FUSED_QKV, V.SDPA, V.SDPA_MATH, V.SDPA_FLASH, V.CACHE_CAT, V.REPEAT_KV)


def case_of(work, variants, dtype=Dtype.FLOAT32, **changes):
    given = {"name": "small", "warmup": 1, "repeats": 6, "budget_s": 30.0, "deadline_s": 60.0}
    return KernelCase(work=work, variants=tuple(variants), dtype=dtype, **given | changes)
