import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.efficiency import Efficiency
from exporter.model.energy import EnergyReading, Method, Validity, advance, integrate
from exporter.model.energy_window import MIN_POLLS, of_declared, of_meter, of_power, together
from exporter.model.power_protocol import EdgeFound

TICK_S = 0.1


def edge(at_s: float, energy_j: float | None, *, within_s: float = 0.001, ticked: bool = True) -> EdgeFound:
    return EdgeFound(meter="m", at_s=at_s, within_s=within_s, energy_j=energy_j, ticked=ticked)


def steady(watts: float, begin_s: float, end_s: float, step_s: float = TICK_S) -> list[tuple[float, float]]:
    count = int((end_s - begin_s) / step_s + 0.5)
    return [(begin_s + step_s * i, watts) for i in range(count + 1)]


@pytest.mark.parametrize(
    ("before", "after", "wrap", "went"),
    [
        pytest.param(10.0, 15.0, None, 5.0, id="it went on"),
        pytest.param(10.0, 10.0, 100.0, 0.0, id="it stood still"),
        pytest.param(95.0, 3.0, 100.0, 8.0, id="it wrapped"),
        pytest.param(95.0, 3.0, None, 3.0, id="it started again at 0"),
    ],
)
def test_a_counter_goes_forward(before: float, after: float, wrap: float | None, went: float) -> None:
    assert advance(before, after, wrap) == went


@given(st.lists(st.floats(0, 262_143), min_size=1, max_size=30))
def test_a_wrapping_counter_loses_nothing_that_was_less_than_a_round(steps: list[float]) -> None:
    wrap, total, raw, found = 262_143.328_85, 0.0, 5.0, 0.0
    for step in steps:
        total += step
        after = (5.0 + total) % wrap
        found += advance(raw, after, wrap)
        raw = after
    assert found == pytest.approx(total, abs=1e-3)


@given(st.floats(1, 1500), st.lists(st.floats(0.01, 2), min_size=2, max_size=50))
def test_steady_power_is_watts_times_seconds_however_it_is_polled(watts: float, gaps: list[float]) -> None:
    at_s, points = 100.0, []
    for gap in gaps:
        at_s += gap
        points.append((at_s, watts))
    assert integrate(points, 100.0, at_s + 1) == pytest.approx(watts * (at_s + 1 - 100.0))


def test_a_ramp_is_the_area_under_it_and_one_point_is_none() -> None:
    assert integrate([(0, 0), (1, 100), (2, 200)], 0, 2) == pytest.approx(200)
    assert integrate([(0, 0), (1, 100)], 0.5, 2) is None


def test_a_window_goes_from_tick_to_tick() -> None:
    energies = [(10 + TICK_S * i, 1000 + 30.0 * i) for i in range(1, 10)]
    reading = of_meter(
        edge(10.0, 1000), edge(11.0, 1300), powers=steady(300, 10, 11), energies=energies, wrap_j=None
    )
    assert reading.validity is Validity.OK
    assert (reading.joules, reading.seconds, reading.watts) == (300, 1, 300)
    assert reading.method is Method.COUNTER
    assert reading.ticks == 10
    assert reading.disagreement == pytest.approx(0)


def test_a_wrap_in_a_window_is_undone() -> None:
    reading = of_meter(
        edge(0, 95.0), edge(1.0, 15.0), powers=(), energies=[(0.4, 99.0), (0.6, 2.0)], wrap_j=100.0
    )
    assert reading.validity is Validity.OK
    assert reading.joules == pytest.approx(20)


@pytest.mark.parametrize(
    ("begin", "end", "energies", "validity"),
    [
        pytest.param(edge(0, 100), edge(0.1, 130), (), Validity.TOO_SHORT, id="one tick"),
        pytest.param(
            edge(0, 100, ticked=False),
            edge(1, 400),
            [(0.5, 250)],
            Validity.UNALIGNED,
            id="it began between ticks",
        ),
        pytest.param(
            edge(0, 100, within_s=0.02),
            edge(1, 400, within_s=0.02),
            [(0.5, 250)],
            Validity.UNALIGNED,
            id="its ends are blurred",
        ),
        pytest.param(edge(0, 100), edge(1, 50), [(0.5, 20)], Validity.RESET, id="the counter fell"),
        pytest.param(
            edge(0, 100), edge(1, 1000), [(0.5, 500)], Validity.DISAGREES, id="polled power differs"
        ),
        pytest.param(edge(0, 100), edge(1, 400), [(0.5, 250)], Validity.OK, id="all is well"),
    ],
)
def test_a_window_is_valid_or_says_why_not(
    begin: EdgeFound, end: EdgeFound, energies: list[tuple[float, float]], validity: Validity
) -> None:
    reading = of_meter(begin, end, powers=steady(300, 0, 1), energies=energies, wrap_j=None)
    assert reading.validity is validity
    assert reading.is_valid == (validity is Validity.OK)
    assert bool(reading.detail) != reading.is_valid


def test_without_a_counter_there_must_be_enough_polls() -> None:
    few, many = steady(50, 0, 0.5), steady(50, 0, 2)
    assert of_power(few, 0, 0.5).validity is Validity.TOO_SHORT
    assert len(many) >= MIN_POLLS
    assert of_power(many, 0, 2).joules == pytest.approx(100)
    assert of_power([], 0, 2).validity is Validity.NO_SOURCE
    assert of_power(steady(50, 0, 2)[:5] + steady(50, 9, 11), 0, 11).validity is Validity.NO_SOURCE


def test_meters_are_added_up_over_what_they_have_in_common() -> None:
    one = of_declared(300, 0.0, 10.0)
    other = of_declared(500, 0.1, 10.1)
    both = together([one, other])
    assert (both.begin_s, both.end_s) == (0.1, 10.0)
    assert both.joules == pytest.approx(800 * 9.9)
    assert together([one]) is one


def test_one_bad_meter_spoils_the_sum() -> None:
    bad = EnergyReading(validity=Validity.NO_SOURCE, detail="gone")
    both = together([of_declared(300, 0, 10), bad])
    assert (both.validity, both.detail, both.joules) == (Validity.NO_SOURCE, "gone", None)


def test_efficiency_is_a_ratio_or_nothing() -> None:
    some = Efficiency(joules=5000, seconds=10, tokens=2500, requests=50)
    assert some.joules_per_token == 2
    assert some.tokens_per_joule == 0.5
    assert some.requests_per_watt == 0.01
    assert some.cost_per_million_tokens(0.36) == pytest.approx(0.2)
    none = Efficiency(joules=0, seconds=10, tokens=0, requests=0)
    assert none.joules_per_token is none.tokens_per_joule is none.requests_per_watt is None
    assert none.cost_per_million_tokens(0.3) is None
