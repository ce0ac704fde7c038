"""Bucket bounds follow the promises and the deadlines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.metrics.buckets import bucket_bounds, buckets_for
from exporter.metrics.catalogue.probe import DURATION, HISTOGRAM_OF, ITL, LATENESS, TTFT
from exporter.metrics.catalogue.service import LOOP_LAG
from exporter.model.clocks import Clock
from exporter.model.target import Objective
from tests.metrics.builders import AVAILABILITY, E2E_P99, plan, probe


def promise(clock, threshold_s):
    return Objective(sli=f"{clock}_p99", ratio=0.99, clock=clock, threshold_s=threshold_s)


@pytest.mark.parametrize("threshold_s", [0.3, 1.25, 30])
@pytest.mark.parametrize("clock", list(Clock))
def test_an_odd_threshold_is_a_bound_of_its_clock_and_of_no_other(clock, threshold_s):
    for other, family in HISTOGRAM_OF.items():
        bounds = buckets_for(family, [promise(clock, threshold_s)], [45])
        expected = other is clock or threshold_s in family.buckets
        assert (threshold_s in bounds) == expected


@given(
    clock=st.sampled_from(list(Clock)),
    thresholds=st.lists(st.floats(0.001, 1000), max_size=5),
    timeouts=st.lists(st.floats(0.05, 1000), min_size=1, max_size=5),
)
def test_bounds_rise_hold_every_threshold_and_reach_the_largest_timeout(clock, thresholds, timeouts):
    family = HISTOGRAM_OF[clock]
    bounds = buckets_for(family, [promise(clock, t) for t in thresholds] + [AVAILABILITY], timeouts)
    assert list(bounds) == sorted(set(bounds))
    assert {round(t, 9) for t in thresholds} <= set(bounds)
    assert max(bounds) == max(round(max(timeouts), 9), *(round(t, 9) for t in thresholds), 0)
    assert set(bounds) <= set(family.buckets) | {round(t, 9) for t in (*thresholds, *timeouts)}
    assert {b for b in family.buckets if b <= max(timeouts)} <= set(bounds)


def test_the_same_threshold_in_two_spellings_is_one_bound():
    bounds = buckets_for(TTFT, [promise(Clock.TTFT, 0.1 + 0.2), promise(Clock.TTFT, 0.3)], [30])
    assert [b for b in bounds if 0.29 < b < 0.31] == [0.3]


def test_other_histograms_and_an_empty_configuration_keep_their_own_bounds():
    assert buckets_for(LATENESS, [promise(Clock.TTFT, 0.3)], [30]) == LATENESS.buckets
    assert buckets_for(ITL, [], []) == ITL.buckets


def test_a_configuration_gives_the_union_over_its_targets():
    bounds = bucket_bounds(
        [
            plan("a", probe(timeout_s=10.0, objectives=(E2E_P99,))),
            plan("b", probe(timeout_s=45.0), probe("x", objectives=(promise(Clock.E2E, 2.2),))),
        ]
    )
    assert {1.25, 2.2, 45.0} <= set(bounds[DURATION.name])
    assert max(bounds[DURATION.name]) == max(bounds[ITL.name]) == 45.0
    assert bounds[LOOP_LAG.name] == LOOP_LAG.buckets
