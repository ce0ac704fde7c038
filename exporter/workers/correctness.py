"""Is a result right: against float64 on the CPU, and with a number that is none put into it.

The reference gets the same rounded inputs.  Long sequences are checked at some of their rows, since all of
them would take longer than the bench; every row has to be finite.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from exporter.model.attention import AttentionShape
from exporter.workers.attention_material import Material

MAX_ROWS = 1024
"""Rows that are compared, over all sequences."""
MAX_SEQUENCES = 8


@dataclass(frozen=True)
class Reference:
    """Rows of the float64 result; ``places`` are their sequence and position."""

    places: tuple[tuple[int, int], ...]
    rows: Tensor


def reference_of(material: Material) -> Reference:
    """Compute attention in float64 on the CPU, one sequence after the other."""
    shape = material.shape
    weights = {name: _exact(*pair) for name, pair in material.weights.items()}
    chosen = _spread(shape.batch, MAX_SEQUENCES)
    places, results = [], []
    for sequence in chosen:
        length = shape.lengths[sequence] if shape.lengths else shape.query_len
        rows = _spread(length, MAX_ROWS // len(chosen))
        (x,) = _exact(material.x[sequence, :length])
        past = (
            None
            if material.cache is None
            else _exact(*(c[sequence, :, : shape.cached_len] for c in material.cache))
        )
        results.append(_attention(shape, weights, x, rows, past))
        places += [(sequence, row) for row in rows]
    return Reference(tuple(places), torch.cat(results))


def _attention(
    shape: AttentionShape,
    weights: dict[str, tuple[Tensor, ...]],
    x: Tensor,
    rows: list[int],
    past: tuple[Tensor, ...] | None,
) -> Tensor:
    """Return those rows of the attention of one sequence (length, dim)."""

    def heads(y: Tensor, name: str) -> Tensor:
        return functional.linear(y, *weights[name]).view(len(y), -1, shape.head_dim).transpose(0, 1)

    q, k, v = heads(x[rows], "q"), heads(x, "k"), heads(x, "v")
    if past is not None:
        k, v = torch.cat((past[0], k), dim=1), torch.cat((past[1], v), dim=1)
    groups = q.shape[0] // k.shape[0]
    k, v = k.repeat_interleave(groups, dim=0), v.repeat_interleave(groups, dim=0)
    scores = q @ k.transpose(1, 2) / math.sqrt(shape.head_dim)
    if shape.causal:
        last = torch.tensor(rows)[:, None] + k.shape[1] - x.shape[0]
        scores = scores.masked_fill(torch.arange(k.shape[1]) > last, -math.inf)
    mixed = (scores.softmax(dim=-1) @ v).transpose(0, 1).flatten(1)
    return functional.linear(mixed, *weights["o"])


def error_of(call: Callable[[Tensor], Tensor], material: Material, reference: Reference) -> float | None:
    """Return the relative error of a call; None where something is not as finite as it has to be."""
    poison_free_memory(material.x)
    result = call(material.x)
    if not _all_finite(result, material):
        return None
    error = relative_error(_rows(result, material, reference.places), reference.rows)
    return error if _spreads_nan(call, material) else None


def relative_error(result: Tensor, reference: Tensor) -> float | None:
    """Return the norm of the difference over the norm of the reference; None when not all is finite."""
    result = result.to("cpu", torch.float64)
    if not torch.isfinite(result).all():
        return None
    return float(torch.linalg.vector_norm(result - reference) / torch.linalg.vector_norm(reference))


def poison_free_memory(like: Tensor) -> None:
    """Leave NaN behind where the next result of this size will probably be put.

    Allocated and freed at once: the allocator hands the same block out again, and an element that is never
    written shows.
    """
    block = torch.full_like(like, math.nan)
    del block


def _spreads_nan(call: Callable[[Tensor], Tensor], material: Material) -> bool:
    """Tell whether not-a-number in one token reaches what depends on it, and no other sequence.

    A kernel that answers zeros there would hide a broken model; one that answers it elsewhere mixes requests.
    """
    shape = material.shape
    last = (shape.lengths[0] if shape.lengths else shape.query_len) - 1
    poisoned = material.x.clone()
    poisoned[0, last] = math.nan
    result = call(poisoned)
    if not torch.isnan(_rows(result, material, [(0, last)])).all():
        return False
    others = [(sequence, 0) for sequence in range(1, shape.batch)]
    return not others or bool(torch.isfinite(_rows(result, material, others)).all())


def _all_finite(result: Tensor, material: Material) -> bool:
    shape = material.shape
    if result.dim() == 2 or not shape.lengths:
        return bool(torch.isfinite(result).all())
    return all(bool(torch.isfinite(row[:n]).all()) for row, n in zip(result, shape.lengths, strict=True))


def _rows(result: Tensor, material: Material, places: Iterable[tuple[int, int]]) -> Tensor:
    """Pick rows of a result, padded (batch, length, dim) or packed (tokens, dim)."""
    if result.dim() == 3:
        return torch.stack([result[sequence, row] for sequence, row in places])
    starts = [sum(material.shape.lengths[:i]) for i in range(material.shape.batch)]
    return torch.stack([result[starts[sequence] + row] for sequence, row in places])


def _exact(*tensors: Tensor) -> tuple[Tensor, ...]:
    return tuple(tensor.to("cpu", torch.float64) for tensor in tensors)


def _spread(length: int, most: int) -> list[int]:
    """Return positions from the first to the last, all of them or evenly spread."""
    if length <= most:
        return list(range(length))
    return sorted({round(i * (length - 1) / (most - 1)) for i in range(most)}) if most > 1 else [length - 1]
