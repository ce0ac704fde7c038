"""What one call of a kernel does: attention, or one of the two things that bound it.

The ceilings are kernels like the others: a square matrix product shows what the device computes, a copy
shows what its memory moves.  Their own FLOP and bytes are in closed form too.
"""

import dataclasses
from dataclasses import dataclass

from exporter.model.attention import AttentionShape, compulsory_bytes, total_flops


@dataclass(frozen=True, slots=True, kw_only=True)
class MatmulShape:
    """A product of two square matrices of ``size`` x ``size`` numbers, at least 1."""

    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyShape:
    """A copy of ``copied_bytes`` (at least 4) from one place of the device's memory to another."""

    copied_bytes: int


Work = AttentionShape | MatmulShape | CopyShape


def flops(work: Work) -> int:
    """FLOP of one call; a copy has none."""
    match work:
        case AttentionShape():
            return total_flops(work)
        case MatmulShape(size=n):
            return 2 * n**3
        case CopyShape():
            return 0


def moved_bytes(work: Work, element_bytes: int) -> int:
    """Bytes that any implementation has to move, ``element_bytes`` (at least 1) a number.

    A copy reads and writes each byte; a product reads two matrices and writes one.
    """
    match work:
        case AttentionShape():
            return compulsory_bytes(work, element_bytes)
        case MatmulShape(size=n):
            return 3 * n * n * element_bytes
        case CopyShape(copied_bytes=n):
            return 2 * n


def tokens(work: Work) -> int | None:
    """New tokens of one call; None where the work is not about tokens."""
    return work.tokens if isinstance(work, AttentionShape) else None


def reduced(work: Work) -> Work:
    """Return about an eighth of the work, or all of it where it is small: what a forecast may cost.

    A step of many tokens gets shorter; where few tokens meet a long cache, the cache does; the width stays,
    since it decides which code runs.
    """
    match work:
        case AttentionShape() if work.query_len >= 64:
            lengths = tuple(max(1, n // 8) for n in work.lengths)
            query = max(lengths) if lengths else work.query_len // 8
            return dataclasses.replace(work, query_len=query, kv_len=query + work.cached_len, lengths=lengths)
        case AttentionShape() if work.cached_len >= 64:
            return dataclasses.replace(work, kv_len=work.query_len + work.cached_len // 8)
        case MatmulShape(size=n) if n >= 128:
            return MatmulShape(size=n // 2)
        case CopyShape(copied_bytes=n) if n >= 1 << 20:
            return CopyShape(copied_bytes=n // 8)
        case _:
            return work
