"""The fixed-size histogram against sorted lists."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.codec import decode, encode
from exporter.model.load_histogram import (
    LARGEST_NS,
    SIZE,
    Distribution,
    Recorder,
    bucket_of,
    merged,
    middle_of,
)

VALUES = st.lists(st.integers(0, 4_000_000_000_000), max_size=200)
RATIOS = st.floats(0.001, 1)


def recorded(values: list[int]) -> Distribution:
    recorder = Recorder()
    for value in values:
        recorder.add(value)
    return recorder.take()


@given(st.integers(0, LARGEST_NS))
def test_a_bucket_stands_for_its_values_within_a_half_percent(value: int) -> None:
    bucket = bucket_of(value)
    assert 0 <= bucket < SIZE
    assert abs(middle_of(bucket) - value) <= value / 256


@given(st.integers(0, LARGEST_NS - 1))
def test_buckets_rise_with_values(value: int) -> None:
    assert bucket_of(value) <= bucket_of(value + 1)


@given(VALUES, st.integers(0, 50), RATIOS)
def test_a_percentile_is_the_nearest_rank_within_one_percent(
    values: list[int], failures: int, ratio: float
) -> None:
    found = recorded(values).percentile_s(ratio, failures)
    everything = sorted([*map(float, values), *[math.inf] * failures])
    if not everything:
        assert found is None
        return
    true = everything[max(1, math.ceil(round(ratio * len(everything), 9))) - 1]
    assert found == math.inf if true == math.inf else abs(found * 1e9 - true) <= true / 100


@given(VALUES, st.integers(0, 50), RATIOS, RATIOS)
def test_percentiles_are_monotone_and_never_negative(
    values: list[int], failures: int, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    of = recorded(values)
    if of.n + failures:
        assert 0 <= of.percentile_s(low, failures) <= of.percentile_s(high, failures)
        assert of.percentile_s(high) is None or of.percentile_s(high) <= of.percentile_s(high, failures)
    if of.n:
        assert of.min_ns / 1e9 <= of.percentile_s(low) <= of.max_ns / 1e9


@given(VALUES, VALUES)
def test_merging_is_recording_together(some: list[int], others: list[int]) -> None:
    assert merged([recorded(some), recorded(others)]) == recorded(some + others)


def test_the_extremes_and_the_mean_are_exact() -> None:
    of = recorded([1_000_003, 7, 123_456_789])
    assert (of.min_ns, of.max_ns, of.sum_ns) == (7, 123_456_789, 124_456_799)
    assert of.percentile_s(1) == 0.123456789
    assert recorded([-5]).min_ns == 0


def test_its_size_does_not_depend_on_how_many_values_there_are() -> None:
    recorder = Recorder()
    for value in range(0, 10_000_000, 997):
        recorder.add(value)
    assert len(recorder.take().buckets) < SIZE


def test_it_survives_json() -> None:
    of = recorded([5, 5, 900_000])
    assert decode(Distribution, encode(of)) == of
    with pytest.raises(ValueError, match="add up"):
        Distribution(n=2, buckets=(1,), counts=(1,))
