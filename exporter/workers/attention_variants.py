"""The other ways to write the same attention, and the table of all of them."""

from collections.abc import Callable
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from exporter.model.kernel import Backend, Variant
from exporter.workers.attention_core import (
    CatAttention,
    FusedAttention,
    NaiveAttention,
    RepeatAttention,
    SdpaAttention,
)
from exporter.workers.attention_material import Material


class NestedAttention(SdpaAttention):
    """Sequences of different lengths without padding: one jagged tensor."""

    own_backend = None

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self.offsets = torch.tensor((0, *accumulate(self.shape.lengths)), device=material.x.device)
        self.packed = self._pack(material.x)
        self.made_of = material.x

    def __call__(self, x: Tensor) -> Tensor:
        """Return the packed rows of all sequences: (tokens, dim)."""
        packed = self.packed if x is self.made_of else self._pack(x)
        q, k, v = self.heads_of(packed)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.masks_future)
        out: Tensor = functional.linear(mixed.transpose(1, 2).flatten(-2), *self.weights["o"])
        return out.values()

    def _pack(self, x: Tensor) -> Tensor:
        rows = [row[:n] for row, n in zip(x, self.shape.lengths, strict=True)]
        packed: Tensor = torch.nested.nested_tensor_from_jagged(torch.cat(rows), self.offsets)
        return packed

    def backend(self, x: Tensor) -> Backend | None:
        """Leave it to the profiler."""
        del x
        return None


class FrameworkAttention(NaiveAttention):
    """The framework's own module, with our weights."""

    own_backend = None

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        shape, like = material.shape, material.x
        if shape.cached_len or shape.kv_heads != shape.heads or shape.lengths:
            raise ValueError(f"nn.MultiheadAttention has no caches, groups or lengths: {shape}")
        self.module = nn.MultiheadAttention(
            shape.dim, shape.heads, batch_first=True, device=like.device, dtype=like.dtype
        ).eval()
        with torch.no_grad():
            self.module.in_proj_weight.copy_(torch.cat([self.weights[name][0] for name in "qkv"]))
            self.module.in_proj_bias.copy_(torch.cat([self.weights[name][1] for name in "qkv"]))
            self.module.out_proj.weight.copy_(self.weights["o"][0])
            self.module.out_proj.bias.copy_(self.weights["o"][1])

    def __call__(self, x: Tensor) -> Tensor:
        """Call the module."""
        mask = None if self.mask is None else ~self.mask
        out, _ = self.module(
            x, x, x, need_weights=False, attn_mask=mask, is_causal=self.masks_future and mask is not None
        )
        result: Tensor = out
        return result


class FlexAttention(SdpaAttention):
    """Compiled FlexAttention; a mask is a function of positions."""

    own_backend = Backend.COMPILED

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: PLC0415 - slow

        if self.shape.lengths:
            raise ValueError(f"sequences of different lengths are not written here: {self.shape}")
        sizes = (None, None, self.shape.query_len, self.shape.kv_len)
        self.blocks = None
        if self.masks_future:
            self.blocks = create_block_mask(_not_future, *sizes, device=str(material.x.device))
        self.flex = torch.compile(flex_attention, dynamic=False)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Call the compiled function."""
        grouped = self.shape.kv_heads != self.shape.heads
        out: Tensor = self.flex(q, k, v, block_mask=self.blocks, enable_gqa=grouped)
        return out

    def backend(self, x: Tensor) -> Backend | None:
        """There is one only."""
        del x
        return self.own_backend


class CompiledAttention(NaiveAttention):
    """``torch.compile`` of the naive form, which may turn it into something else: only the profiler knows."""

    own_backend = None

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        self.compiled = torch.compile(super().__call__, dynamic=False)

    def __call__(self, x: Tensor) -> Tensor:
        """Call the compiled code."""
        return self.compiled(x)


def _forced(kernel: SDPBackend) -> type[SdpaAttention]:
    """Return an attention that may use one backend only; the framework raises where it cannot."""

    class Forced(SdpaAttention):
        __doc__ = f"Attention by {kernel.name} only."

        def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            with sdpa_kernel(kernel):
                return super().attend(q, k, v)

        def backend(self, x: Tensor) -> Backend | None:
            with sdpa_kernel(kernel):
                return super().backend(x)

    return Forced


def _not_future(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
    del batch, head
    return query >= key


VARIANTS: dict[Variant, Callable[[Material], NaiveAttention]] = {
    Variant.NAIVE: NaiveAttention,
    Variant.FUSED_QKV: FusedAttention,
    Variant.SDPA: SdpaAttention,
    Variant.SDPA_MATH: _forced(SDPBackend.MATH),
    Variant.SDPA_FLASH: _forced(SDPBackend.FLASH_ATTENTION),
    Variant.SDPA_EFFICIENT: _forced(SDPBackend.EFFICIENT_ATTENTION),
    Variant.SDPA_CUDNN: _forced(SDPBackend.CUDNN_ATTENTION),
    Variant.NN_MHA: FrameworkAttention,
    Variant.COMPILED: CompiledAttention,
    Variant.FLEX: FlexAttention,
    Variant.CACHE_CAT: CatAttention,
    Variant.REPEAT_KV: RepeatAttention,
    Variant.NESTED: NestedAttention,
}
