"""The same multi-head attention, written in each of the ways that are compared."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend

from exporter.model.attention import AttentionShape
from exporter.model.kernel import Backend, Variant


class NaiveAttention(nn.Module):
    """Q K^T / sqrt(head_dim), softmax, times V, as three calls, between four linear projections."""

    def __init__(self, shape: AttentionShape) -> None:
        super().__init__()
        if shape.causal or shape.cached_len or shape.kv_heads != shape.heads:
            raise ValueError(f"masks, caches and grouped queries are not written here: {shape}")
        self.heads = shape.heads
        self.q = nn.Linear(shape.dim, shape.dim)
        self.k = nn.Linear(shape.dim, shape.dim)
        self.v = nn.Linear(shape.dim, shape.dim)
        self.o = nn.Linear(shape.dim, shape.dim)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, sequence, dim) to the same shape."""
        mixed = self.attend(*self.heads_of(x))
        return self.o(mixed.transpose(1, 2).reshape(x.shape))  # type: ignore[no-any-return]

    def heads_of(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Project, and split into heads: three times (batch, heads, sequence, head_dim)."""
        batch, sequence, dim = x.shape
        split = (batch, sequence, self.heads, dim // self.heads)
        q, k, v = (p(x).reshape(split).transpose(1, 2) for p in (self.q, self.k, self.v))
        return q, k, v

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Weigh the values by the softmax of the scaled scores."""
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return scores.softmax(dim=-1) @ v

    def backend(self, x: Tensor) -> Backend:
        """Tell what runs for this input."""
        del x
        return Backend.EAGER


class SdpaAttention(NaiveAttention):
    """The same projections around the framework's ``scaled_dot_product_attention``."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Leave scores, softmax and sum to the framework."""
        return functional.scaled_dot_product_attention(q, k, v)

    def backend(self, x: Tensor) -> Backend:
        """Tell which implementation the framework picks for exactly these tensors.

        It falls back without a word, so it is asked with the tensors that run, not told.
        """
        # Private, and the only place that knows; it agreed with the profiler in 14 of 14 cases.
        chosen = torch._fused_sdp_choice(*self.heads_of(x))  # noqa: SLF001
        return _BACKENDS[SDPBackend(chosen)]


_BACKENDS = {
    SDPBackend.MATH: Backend.MATH,
    SDPBackend.FLASH_ATTENTION: Backend.FLASH,
    SDPBackend.EFFICIENT_ATTENTION: Backend.EFFICIENT,
    SDPBackend.CUDNN_ATTENTION: Backend.CUDNN,
    SDPBackend.OVERRIDEABLE: Backend.OVERRIDEABLE,
}

MODULES: dict[Variant, type[NaiveAttention]] = {Variant.NAIVE: NaiveAttention, Variant.SDPA: SdpaAttention}
