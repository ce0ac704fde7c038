"""Work of one multi-head-attention call in closed form: floating-point operations and bytes.

Profilers do not replace these formulas: PyTorch's ``FlopCounterMode`` counts 0 for the fused CPU kernel.
A multiply and an add are two operations; softmax, scaling and biases are not counted (as in
FlashAttention's and FlashInfer's own benches), so the achieved rate is a lower bound.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionShape:
    """Sizes of one call: projections of ``query_len`` new tokens, attention over ``kv_len`` tokens.

    ``kv_len - query_len`` tokens come from a cache, so ``kv_len >= query_len``.  ``kv_heads`` below
    ``heads`` is grouped-query attention.  All sizes are at least 1.

    Raises:
        ValueError: sizes that no attention can have.
    """

    batch: int
    query_len: int
    kv_len: int
    dim: int
    heads: int
    kv_heads: int
    causal: bool = False
    lengths: tuple[int, ...] = ()
    """Tokens of each sequence where they differ (no cache then); the longest is ``query_len``."""

    def __post_init__(self) -> None:
        sizes = (self.batch, self.query_len, self.kv_len, self.dim, self.heads, self.kv_heads)
        if min(sizes) < 1:
            raise ValueError(f"every size of an attention shape is at least 1: {self}")
        if self.kv_len < self.query_len:
            raise ValueError(f"kv_len counts the new tokens too, so it is at least query_len: {self}")
        if self.dim % self.heads:
            raise ValueError(f"dim is a multiple of heads: {self}")
        if self.heads % self.kv_heads:
            raise ValueError(f"heads is a multiple of kv_heads: {self}")
        if self.lengths:
            self._check_lengths()

    def _check_lengths(self) -> None:
        if len(self.lengths) != self.batch or min(self.lengths) < 1 or max(self.lengths) != self.query_len:
            raise ValueError(f"lengths has one entry a sequence, the longest is query_len: {self}")
        if self.cached_len:
            raise ValueError(f"sequences of different lengths have no cache here: {self}")

    @property
    def head_dim(self) -> int:
        """Width of one head."""
        return self.dim // self.heads

    @property
    def kv_dim(self) -> int:
        """Width of the key and of the value projection: ``dim``, or less with grouped queries."""
        return self.head_dim * self.kv_heads

    @property
    def cached_len(self) -> int:
        """Tokens whose keys and values come from the cache."""
        return self.kv_len - self.query_len

    @property
    def tokens(self) -> int:
        """New tokens of one call: batch x query length, or the sum of the lengths; padding is none."""
        return sum(self.lengths) if self.lengths else self.batch * self.query_len

    @property
    def pairs(self) -> int:
        """Query-key pairs that count, over the batch.

        Causal attention is counted exactly: query i of S_q sees S_kv - S_q + i + 1 keys, which sums to
        S_q (2 S_kv - S_q + 1) / 2.
        """
        sequences = [(n, n) for n in self.lengths] or [(self.query_len, self.kv_len)] * self.batch
        if self.causal:
            return sum(q * (2 * kv - q + 1) // 2 for q, kv in sequences)
        return sum(q * kv for q, kv in sequences)


def projection_flops(shape: AttentionShape) -> int:
    """FLOP of the q, k, v and o projections: 2 B S D (2 D + 2 D_kv), which is 8 B S D^2 for plain MHA."""
    return 2 * shape.tokens * shape.dim * (2 * shape.dim + 2 * shape.kv_dim)


def core_flops(shape: AttentionShape) -> int:
    """FLOP of Q K^T and of the weights times V: 4 D for each query-key pair, so 4 B S_q S_kv D unmasked.

    Grouped queries change nothing: every query head still meets every key.  Padding is no work.
    """
    return 4 * shape.pairs * shape.dim


def total_flops(shape: AttentionShape) -> int:
    """FLOP of one call: the projections and the core."""
    return projection_flops(shape) + core_flops(shape)


def compulsory_bytes(shape: AttentionShape, element_bytes: int) -> int:
    """Bytes that any implementation has to move, ``element_bytes`` (at least 1) a number.

    The four weight matrices once, the input and the output once; where there is a cache, its keys and
    values read once and the new tokens' written once.  Intermediates can stay on the chip: not counted.
    """
    weights = shape.dim * (2 * shape.dim + 2 * shape.kv_dim)
    activations = 2 * shape.tokens * shape.dim
    cache = 2 * shape.batch * shape.kv_len * shape.kv_dim if shape.cached_len else 0
    return element_bytes * (weights + activations + cache)


def arithmetic_intensity(shape: AttentionShape, element_bytes: int) -> float:
    """FLOP per compulsory byte; below the device's FLOP/s divided by its bytes/s the call is memory bound."""
    return total_flops(shape) / compulsory_bytes(shape, element_bytes)
