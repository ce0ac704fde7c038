"""What one request says about each promise."""

import pytest

from exporter.model.clocks import Clock, Measured, Timing
from exporter.model.outcome import Outcome
from exporter.model.sla import Promise, decide
from exporter.model.target import Objective

HALF = 0.5


def within(clock: Clock) -> Objective:
    return Objective(sli=f"{clock}_p99", ratio=0.99, clock=clock, threshold_s=HALF)


AVAILABILITY = Objective(sli="availability", ratio=0.995)
TTFT, TTFC, ITL, TPOT, E2E = map(within, Clock)
FAST, SLOW = Measured(0.3), Measured(0.7)
ONE_TOKEN = Timing(ttft=FAST, ttfc=FAST, e2e=FAST)

OK_CASES = [
    ("an ok request keeps availability", Timing(), AVAILABILITY, Promise.MET),
    ("in time", Timing(ttft=FAST), TTFT, Promise.MET),
    ("exactly at the threshold", Timing(ttft=Measured(HALF)), TTFT, Promise.MET),
    ("too late", Timing(ttft=SLOW), TTFT, Promise.BREACHED),
    ("each clock has its own", Timing(ttft=FAST, e2e=SLOW), E2E, Promise.BREACHED),
    ("first content", Timing(ttft=FAST, ttfc=SLOW), TTFC, Promise.BREACHED),
    ("time per token", Timing(tpot=FAST), TPOT, Promise.MET),
    (
        "a span across the threshold from above",
        Timing(ttft=Measured(0.51, below_s=0.02)),
        TTFT,
        Promise.UNDECIDED,
    ),
    (
        "a span across the threshold from below",
        Timing(tpot=Measured(0.49, above_s=0.02)),
        TPOT,
        Promise.UNDECIDED,
    ),
    ("a wide span that stays inside", Timing(ttft=Measured(0.4, 0.3, 0.1)), TTFT, Promise.MET),
    ("a wide span that stays outside", Timing(ttft=Measured(0.9, 0.39, 1.0)), TTFT, Promise.BREACHED),
    ("every gap in time", Timing(gaps=(FAST, FAST)), ITL, Promise.MET),
    ("one gap too long", Timing(gaps=(FAST, SLOW, FAST)), ITL, Promise.BREACHED),
    (
        "a small gap of wide span",
        Timing(gaps=(Measured(0.4), Measured(0.3, above_s=0.3))),
        ITL,
        Promise.UNDECIDED,
    ),
    (
        "one long gap outweighs one in doubt",
        Timing(gaps=(Measured(0.3, above_s=0.3), SLOW)),
        ITL,
        Promise.BREACHED,
    ),
    ("one token has no gap", ONE_TOKEN, ITL, Promise.NOT_COUNTED),
    ("one token has no time per token", ONE_TOKEN, TPOT, Promise.NOT_COUNTED),
    ("tool calls have no content", Timing(ttft=FAST), TTFC, Promise.NOT_COUNTED),
]


@pytest.mark.parametrize(("_", "timing", "objective", "says"), OK_CASES, ids=[row[0] for row in OK_CASES])
def test_ok_requests(_: str, timing: Timing, objective: Objective, says: Promise) -> None:
    assert decide(Outcome.OK, timing, objective) is says


NO_EVIDENCE = {Outcome.CANCELLED, Outcome.OVER_BUDGET, Outcome.CLIENT_OVERLOAD}
FAILED = [outcome for outcome in Outcome if outcome.is_failure and outcome not in NO_EVIDENCE]
ALL = [AVAILABILITY, TTFT, TTFC, ITL, TPOT, E2E]


@pytest.mark.parametrize("objective", ALL, ids=lambda objective: objective.sli)
@pytest.mark.parametrize("outcome", FAILED)
def test_a_failure_breaches_every_promise_however_fast_it_was(outcome: Outcome, objective: Objective) -> None:
    fast = Timing(ttft=FAST, ttfc=FAST, tpot=FAST, e2e=FAST, gaps=(FAST,))
    assert decide(outcome, fast, objective) is Promise.BREACHED
    assert decide(outcome, Timing(), objective) is Promise.BREACHED


@pytest.mark.parametrize("objective", ALL, ids=lambda objective: objective.sli)
@pytest.mark.parametrize("outcome", sorted(NO_EVIDENCE))
def test_what_is_not_the_targets_fault_says_nothing(outcome: Outcome, objective: Objective) -> None:
    assert decide(outcome, Timing(ttft=SLOW), objective) is Promise.NOT_COUNTED
