"""The same multi-head attention, written in each of the ways that are compared."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend

from exporter.model.kernel import Backend
from exporter.workers.attention_material import Material

_BACKENDS = {
    SDPBackend.MATH: Backend.MATH,
    SDPBackend.FLASH_ATTENTION: Backend.FLASH,
    SDPBackend.EFFICIENT_ATTENTION: Backend.EFFICIENT,
    SDPBackend.CUDNN_ATTENTION: Backend.CUDNN,
    SDPBackend.OVERRIDEABLE: Backend.OVERRIDEABLE,
}


class NaiveAttention:
    """Q K^T / sqrt(head_dim), softmax, times V, as three calls, between four linear projections.

    Raises:
        ValueError: the shape needs a mask that is not written here.
    """

    own_backend: Backend | None = Backend.EAGER
    """None: only the profiler can tell."""

    def __init__(self, material: Material) -> None:
        shape = material.shape
        if shape.causal and shape.cached_len and shape.query_len > 1:
            raise ValueError(f"several new tokens after a cache are not written here: {shape}")
        self.shape = shape
        self.weights = material.weights
        self.cache = material.cache
        self.masks_future = shape.causal and shape.query_len > 1
        self.mask = _mask(material)

    def __call__(self, x: Tensor) -> Tensor:
        """Map (batch, sequence, dim) to the same shape."""
        q, k, v = self.heads_of(x)
        k, v = self.remember(k, v)
        mixed = self.attend(q, k, v).transpose(1, 2).reshape(x.shape)
        return functional.linear(mixed, *self.weights["o"])

    def heads_of(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project, and split into heads: three times (batch, heads, sequence, head_dim)."""
        q, k, v = (self.split(functional.linear(x, *self.weights[name])) for name in "qkv")
        return q, k, v

    def split(self, projected: Tensor) -> Tensor:
        """Turn (batch, sequence, heads x head_dim) into (batch, heads, sequence, head_dim)."""
        heads: Tensor = projected.unflatten(-1, (-1, self.shape.head_dim))  # type: ignore[no-untyped-call]
        return heads.transpose(1, 2)

    def remember(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write the new keys and values into their places in the cache, and return all of them."""
        if self.cache is None:
            return k, v
        for whole, new in zip(self.cache, (k, v), strict=True):
            whole[:, :, self.shape.cached_len :] = new
        return self.cache

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Weigh the values by the softmax of the scaled scores."""
        k, v = self.for_each_head(k), self.for_each_head(v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -math.inf)
        return scores.softmax(dim=-1) @ v

    def for_each_head(self, grouped: Tensor) -> Tensor:
        """Repeat keys or values for the query heads that share them."""
        times = self.shape.heads // self.shape.kv_heads
        return grouped if times == 1 else grouped.repeat_interleave(times, dim=1)

    def backend(self, x: Tensor) -> Backend | None:
        """Tell what runs for this input; None: only the profiler can."""
        del x
        return self.own_backend


class SdpaAttention(NaiveAttention):
    """The same projections around the framework's ``scaled_dot_product_attention``."""

    grouped = True
    """Whether grouped queries are left to the framework."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Leave scores, softmax and sum to the framework."""
        if not self.grouped:
            k, v = self.for_each_head(k), self.for_each_head(v)
        return functional.scaled_dot_product_attention(q, k, v, **self.options())

    def options(self) -> dict[str, Any]:
        """Return what distinguishes this call from the plain one."""
        if self.shape.lengths:
            return {"attn_mask": self.mask}
        uneven = self.grouped and self.shape.kv_heads != self.shape.heads
        return {"is_causal": self.masks_future} | ({"enable_gqa": True} if uneven else {})

    def backend(self, x: Tensor) -> Backend | None:
        """Tell which implementation the framework picks for exactly these tensors.

        It falls back without a word, so it is asked with the tensors that run, not told.
        """
        q, k, v = self.heads_of(x)
        k, v = self.remember(k, v)
        if not self.grouped:
            k, v = self.for_each_head(k), self.for_each_head(v)
        # Private, and the only place that knows; it agreed with the profiler in 14 of 14 cases.
        chosen = torch._fused_sdp_choice(q, k, v, **self.options())  # noqa: SLF001
        return _BACKENDS[SDPBackend(chosen)]


class FusedAttention(SdpaAttention):
    """One wide projection for q, k and v."""

    def __init__(self, material: Material) -> None:
        super().__init__(material)
        parts = [self.weights[name] for name in "qkv"]
        self.wide = (torch.cat([weight for weight, _ in parts]), torch.cat([bias for _, bias in parts]))

    def heads_of(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project once, then take the three apart."""
        widths = [self.shape.dim, self.shape.kv_dim, self.shape.kv_dim]
        q, k, v = map(self.split, torch.split(functional.linear(x, *self.wide), widths, dim=-1))
        return q, k, v


class CatAttention(SdpaAttention):
    """A cache that is copied to grow by one step."""

    def remember(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Join the past and the new ones into new tensors."""
        if self.cache is None:
            return k, v
        past = self.shape.cached_len
        keys, values = self.cache
        return torch.cat((keys[:, :, :past], k), dim=2), torch.cat((values[:, :, :past], v), dim=2)


class RepeatAttention(SdpaAttention):
    """Grouped queries by repeating keys and values."""

    grouped = False


def _mask(material: Material) -> Tensor | None:
    """Return which keys a query may see, True for yes, in a shape that broadcasts over the scores."""
    shape, device = material.shape, material.x.device
    mask = None
    if shape.causal and shape.query_len > 1:
        mask = torch.ones(shape.query_len, shape.kv_len, dtype=torch.bool, device=device).tril()
    if shape.lengths:
        lengths = torch.tensor(shape.lengths, device=device)
        real = (torch.arange(shape.kv_len, device=device) < lengths[:, None])[:, None, None, :]
        mask = real if mask is None else real & mask
    return mask
