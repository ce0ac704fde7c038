"""When a breach is looked at closer, and when no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.clocks import Clock, Measured, Timing
from exporter.model.confirmation import HOUR_S, Confirm, Confirmation
from exporter.model.outcome import Outcome
from exporter.model.sla import breaks_any
from tests.metrics.builders import AVAILABILITY, TTFT_P99, probe, result

CONFIRM = Confirm(every_s=3.0, for_s=60.0, per_hour=4)


def test_nothing_is_confirmed_before_a_breach():
    assert not Confirmation(CONFIRM).take(0.0)


def test_it_ends_so_long_after_the_last_breach():
    confirmation = Confirmation(CONFIRM)
    confirmation.breached(100.0)
    assert confirmation.take(160.0)
    assert not confirmation.take(160.1)
    confirmation.breached(170.0)
    assert confirmation.take(171.0)


def test_the_hour_has_a_budget_that_comes_back():
    confirmation = Confirmation(CONFIRM)
    for second in range(4):
        confirmation.breached(float(second))
        assert confirmation.take(float(second))
    confirmation.breached(4.0)
    assert not confirmation.take(4.0)
    confirmation.breached(HOUR_S + 0.5)
    assert confirmation.take(HOUR_S + 0.5)
    assert not confirmation.take(HOUR_S + 0.6)


@given(st.lists(st.tuples(st.floats(0, 60), st.booleans()), max_size=200))
def test_no_hour_has_more_than_its_budget(steps):
    confirmation, now_s, sent = Confirmation(CONFIRM), 0.0, []
    for step_s, breached in steps:
        now_s += step_s
        if breached:
            confirmation.breached(now_s)
        if confirmation.take(now_s):
            sent.append(now_s)
    for at_s in sent:
        assert sum(at_s - HOUR_S < other <= at_s for other in sent) <= CONFIRM.per_hour


@pytest.mark.parametrize(
    ("outcome", "ttft_s", "objectives", "breaks"),
    [
        pytest.param(Outcome.OK, 0.2, (TTFT_P99, AVAILABILITY), False, id="in time"),
        pytest.param(Outcome.OK, 0.4, (TTFT_P99, AVAILABILITY), True, id="too slow"),
        pytest.param(Outcome.OK, 0.4, (AVAILABILITY,), False, id="slow where only availability is promised"),
        pytest.param(Outcome.HTTP_5XX, 0.2, (AVAILABILITY,), True, id="failed"),
        pytest.param(Outcome.HTTP_5XX, 0.2, (), False, id="failed where nothing is promised"),
        pytest.param(Outcome.CANCELLED, 0.4, (TTFT_P99, AVAILABILITY), False, id="cancelled"),
    ],
)
def test_what_breaks_an_objective(outcome, ttft_s, objectives, breaks):
    spec = probe(objectives=objectives, clocks=frozenset(Clock))
    assert breaks_any(result(outcome, spec=spec, timing=Timing(ttft=Measured(ttft_s)))) is breaks
