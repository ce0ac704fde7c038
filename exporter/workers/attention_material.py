"""Numbers that every variant of one case works on: input, weights and cache, random and the same each
time."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from exporter.model.attention import AttentionShape

SEED = 20_240_501


@dataclass(frozen=True, kw_only=True)
class Material:
    """Tensors on one device in one format.  Weights are (out, in), as in a linear layer."""

    shape: AttentionShape
    x: Tensor
    """(batch, query_len, dim)."""
    weights: dict[str, tuple[Tensor, Tensor]]
    """Weight and bias of the projections q, k, v and o."""
    cache: tuple[Tensor, Tensor] | None
    """Keys and values, (batch, kv_heads, kv_len, head_dim), of which the last ``query_len`` are to be
    written."""


def make(shape: AttentionShape, dtype: torch.dtype, device: torch.device) -> Material:
    """Draw everything; never zeros, with which an accelerator draws less power and runs faster."""
    generator = torch.Generator(device=device).manual_seed(SEED)

    def normal(*sizes: int) -> Tensor:
        return torch.randn(*sizes, generator=generator, device=device, dtype=dtype)

    def layer(width: int) -> tuple[Tensor, Tensor]:
        reach = 1 / math.sqrt(shape.dim)
        weight = torch.empty(width, shape.dim, device=device, dtype=dtype)
        bias = torch.empty(width, device=device, dtype=dtype)
        return weight.uniform_(-reach, reach, generator=generator), bias.uniform_(
            -reach, reach, generator=generator
        )

    weights = {"q": shape.dim, "k": shape.kv_dim, "v": shape.kv_dim, "o": shape.dim}
    cache = None
    if shape.cached_len:
        sizes = (shape.batch, shape.kv_heads, shape.kv_len, shape.head_dim)
        cache = (normal(*sizes), normal(*sizes))
    return Material(
        shape=shape,
        x=normal(shape.batch, shape.query_len, shape.dim),
        weights={name: layer(width) for name, width in weights.items()},
        cache=cache,
    )
