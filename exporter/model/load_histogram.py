"""A histogram of fixed size: values in nanoseconds, log-linear buckets, relative error below 0.4 %.

Below 128 ns every integer has its bucket; above, each power of two is split into 128.  A value is
represented by the middle of its bucket, which is at most 1/256 of it away.  Minimum, maximum and sum are
exact.  Source of the layout: HdrHistogram.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SUB_BUCKETS = 128
_BITS = 7
LARGEST_NS = (1 << 43) - 1
"""2.4 hours; anything longer counts as this."""
SIZE = (43 - _BITS) * SUB_BUCKETS + SUB_BUCKETS


def bucket_of(value_ns: int) -> int:
    """Return the bucket of a value; negative ones count as 0."""
    if value_ns < SUB_BUCKETS:
        return max(value_ns, 0)
    value_ns = min(value_ns, LARGEST_NS)
    shift = value_ns.bit_length() - _BITS - 1
    return (shift << _BITS) + (value_ns >> shift)


def middle_of(bucket: int) -> float:
    """Return the value in nanoseconds that stands for a bucket."""
    if bucket < 2 * SUB_BUCKETS:
        return float(bucket)
    shift = (bucket >> _BITS) - 1
    low = (bucket - (shift << _BITS)) << shift
    return low + ((1 << shift) - 1) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What a histogram holds, sparse: ``counts[i]`` values in bucket ``buckets[i]``, buckets rising."""

    n: int = 0
    sum_ns: int = 0
    min_ns: int = 0
    """0 when empty, like the maximum."""
    max_ns: int = 0
    buckets: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.buckets) != len(self.counts) or sum(self.counts) != self.n:
            raise ValueError("a distribution's counts do not add up")

    @property
    def mean_s(self) -> float | None:
        """Exact mean in seconds; None when empty."""
        return self.sum_ns / self.n / 1e9 if self.n else None

    def values(self) -> Iterator[tuple[float, int]]:
        """Yield (seconds, how many), rising."""
        for bucket, count in zip(self.buckets, self.counts, strict=True):
            yield self._clamped(bucket) / 1e9, count

    def percentile_s(self, ratio: float, failures: int = 0) -> float | None:
        """Return the nearest-rank percentile in seconds, each failure counting as infinitely late.

        ``ratio`` is in (0, 1].  None when there is nothing at all; ``inf`` where the rank is a failure's.
        """
        total = self.n + failures
        if total == 0:
            return None
        rank = max(1, math.ceil(round(ratio * total, 9)))
        if rank > self.n:
            return math.inf
        if rank == self.n:
            return self.max_ns / 1e9
        seen = 0
        for bucket, count in zip(self.buckets, self.counts, strict=True):
            seen += count
            if seen >= rank:
                return self._clamped(bucket) / 1e9
        return self.max_ns / 1e9

    def _clamped(self, bucket: int) -> float:
        return min(max(middle_of(bucket), self.min_ns), self.max_ns)


class Recorder:
    """Counts values as they come; its size does not depend on how many."""

    __slots__ = ("_counts", "_max_ns", "_min_ns", "_sum_ns")

    def __init__(self) -> None:
        self._counts = array("Q", bytes(8 * SIZE))
        self._sum_ns = 0
        self._min_ns = LARGEST_NS
        self._max_ns = -1

    def add(self, value_ns: int) -> None:
        """Count one value; negative ones count as 0."""
        value_ns = min(max(value_ns, 0), LARGEST_NS)
        self._counts[bucket_of(value_ns)] += 1
        self._sum_ns += value_ns
        self._min_ns = min(self._min_ns, value_ns)
        self._max_ns = max(self._max_ns, value_ns)

    def add_all(self, values_ns: Sequence[int]) -> None:
        """Count many values at once, none of them negative."""
        if not values_ns:
            return
        counts = self._counts
        for value_ns in values_ns:
            if value_ns < SUB_BUCKETS:
                counts[value_ns] += 1
            else:
                shift = value_ns.bit_length() - _BITS - 1
                counts[min((shift << _BITS) + (value_ns >> shift), SIZE - 1)] += 1
        self._sum_ns += sum(values_ns)
        self._min_ns = min(self._min_ns, *values_ns)
        self._max_ns = max(self._max_ns, *values_ns)

    def take(self) -> Distribution:
        """Return what was counted."""
        filled = [(bucket, count) for bucket, count in enumerate(self._counts) if count]
        if not filled:
            return Distribution()
        return Distribution(
            n=sum(count for _, count in filled),
            sum_ns=self._sum_ns,
            min_ns=self._min_ns,
            max_ns=self._max_ns,
            buckets=tuple(bucket for bucket, _ in filled),
            counts=tuple(count for _, count in filled),
        )


def merged(parts: Iterable[Distribution]) -> Distribution:
    """Return one distribution of everything in the parts."""
    parts = [part for part in parts if part.n]
    if not parts:
        return Distribution()
    counts: dict[int, int] = {}
    for part in parts:
        for bucket, count in zip(part.buckets, part.counts, strict=True):
            counts[bucket] = counts.get(bucket, 0) + count
    return Distribution(
        n=sum(part.n for part in parts),
        sum_ns=sum(part.sum_ns for part in parts),
        min_ns=min(part.min_ns for part in parts),
        max_ns=max(part.max_ns for part in parts),
        buckets=tuple(sorted(counts)),
        counts=tuple(counts[bucket] for bucket in sorted(counts)),
    )
