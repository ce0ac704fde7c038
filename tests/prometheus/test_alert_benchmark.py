"""The arithmetic of the benchmark of the alerts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.alerts import physics
from benchmarks.alerts.candidates import Q, lasting, nats, page
from benchmarks.alerts.expand import condition, expand
from benchmarks.alerts.histories import History, Probing, blips, independent, probe
from benchmarks.alerts.replica import Scraped, counters, in_a_row
from benchmarks.alerts.simulate import episodes

HOUR_S = 3600.0


def of(marks: str) -> History:
    """x a breach, o a good answer; capitals are confirmations."""
    return History(
        np.arange(len(marks), dtype=float),
        np.array([mark in "xX" for mark in marks]),
        np.array([mark.isupper() for mark in marks]),
    )


def test_counters_keep_the_schedule_apart_and_join_the_runs():
    totals = {name: int(values[-1]) for name, values in counters(of("oxXxoXOx")).items()}
    assert totals == {
        "requests": 5,
        "breaches": 3,
        "runs": 2,
        "confirmations": 3,
        "confirmed_breaches": 2,
        "confirmed_runs": 3,
    }


def test_the_row_is_that_of_the_schedule():
    assert list(in_a_row(of("oxOxXxox"))) == [0, 1, 1, 2, 2, 3, 0, 1]


@settings(deadline=None)
@given(st.integers(1, 500), st.data())
def test_evidence_bounds_the_tail_of_independent_breaches(requests, data):
    breaches = data.draw(st.integers(0, requests))
    tail = sum(
        math.comb(requests, k) * Q**k * (1 - Q) ** (requests - k) for k in range(breaches, requests + 1)
    )
    found = float(nats(np.array([float(breaches)]), np.array([float(requests)]))[0])
    assert tail <= math.exp(-found) * (1 + 1e-6)


def test_increase_extrapolates_to_both_ends_of_the_window():
    history = of("o" * 3600)
    seen = Scraped(history, np.array([3000.0]), 3600.0)
    assert seen.increase("requests", 900.0)[0] == pytest.approx(900.0, rel=0.02)


def test_a_condition_lasts_when_it_held_at_every_look():
    held = lasting(np.array([True, True, True, False, True]), 60.0)
    assert list(held) == [False, False, True, False, False]


def test_what_fires_again_soon_is_one_page():
    fires = np.zeros(100, bool)
    fires[[10, 12, 29, 60]] = True
    assert episodes(fires) == 2


@pytest.mark.parametrize("cover", [1.0, 0.5])
def test_blips_breach_at_the_rate_that_they_are_asked_for(cover):
    rng = np.random.default_rng(5)
    length_s = 60 * 86400.0
    service = blips(rng, 0.02, 45.0, 15.0, length_s, cover=cover)
    assert np.mean(service(np.arange(0, length_s, 15.0))) == pytest.approx(0.02, rel=0.15)


def test_confirmations_follow_breaches_and_keep_to_their_budget():
    rng = np.random.default_rng(6)
    always = probe(rng, lambda at_s: np.ones(len(at_s), bool), Probing(15.0, 3.0), 3 * HOUR_S)
    assert always.confirming[always.at_s < 3 * HOUR_S].sum() == 450
    never = probe(rng, lambda at_s: np.zeros(len(at_s), bool), Probing(15.0, 3.0), HOUR_S)
    assert never.confirming.sum() == 0


def test_the_page_is_quiet_while_all_is_well_and_fires_when_all_is_lost():
    rng = np.random.default_rng(7)
    at_s = np.arange(6 * HOUR_S, 8 * HOUR_S, 30.0)
    good = Scraped(probe(rng, independent(rng, 0.002), Probing(15.0), 8 * HOUR_S), at_s, 8 * HOUR_S)
    bad = Scraped(probe(rng, independent(rng, 1.0), Probing(15.0), 8 * HOUR_S), at_s, 8 * HOUR_S)
    assert not page(good).any()
    assert page(bad).all()


def test_recorded_series_are_replaced_down_to_what_is_scraped():
    known = {"sli:b:x": "sli:a:x * 2", "sli:a:x": "sum(inference_y_total)"}
    assert expand("sli:b:x > 1", known) == "((sum(inference_y_total)) * 2) > 1"
    assert expand("(sli:a:x offset 2m)", known) == "((sum(inference_y_total offset 2m)))"
    assert "sli:" not in condition("InferenceSLABreach")


def test_more_breaches_tell_more_and_longer_disturbances_are_rarer():
    assert physics.requests_needed(0.05, 9.5) > physics.requests_needed(0.2, 9.5) > 1
    short, long = (physics.blips_longer_than(m, rate=0.009, mean_s=45, slot_s=15) for m in (1, 2))
    assert short == pytest.approx(long / (2 / 3) ** 4)
