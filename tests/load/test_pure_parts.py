"""Plans, arrivals, the breaker, the protocol and the judgement: arithmetic without a clock."""

import random
from dataclasses import replace
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.codec import DecodeError
from exporter.model.load_arrivals import arrivals, share_of
from exporter.model.load_breaker import BreakerState
from exporter.model.load_figures import cost_of, figures_of
from exporter.model.load_histogram import Distribution, Recorder
from exporter.model.load_judgement import Finding, client_limits, judge
from exporter.model.load_plan import Arrival, Bounds, Breaker, LoadPlan, Mode, Prompt
from exporter.model.load_protocol import Progress, StepOrder, Stop, order_from_json, report_from_json, to_json
from exporter.model.load_result import Ended, Pricing, Step, Tally, joined
from exporter.model.outcome import Outcome


def spread(*values_ms: float) -> Distribution:
    recorder = Recorder()
    for value in values_ms:
        recorder.add(round(value * 1e6))
    return recorder.take()


def tally(ok: int = 200, wall_s: float = 10.0, in_flight: float = 8.0, **more: object) -> Tally:
    failures = more.pop("failures", {})
    outcomes = (Ended(Outcome.OK, ok), *(Ended(o, n) for o, n in failures.items()))
    plain: dict[str, object] = {
        "sent": ok + sum(failures.values()),
        "outcomes": tuple(e for e in outcomes if e.count),
        "good": ok,
        "wall_s": wall_s,
        "sending_s": wall_s,
        "in_flight_s": wall_s * in_flight,
        "values": ok * 3,
        "ttft": spread(*[50.0] * ok),
        "e2e": spread(*[100.0] * ok),
    }
    return Tally(**(plain | more))


def step(level: float = 8.0, **more: object) -> Step:
    more.setdefault("in_flight", level)
    return Step(level=level, started_unix_s=0.0, tally=tally(**more))


def findings(plan: LoadPlan, *steps: Step) -> set[Finding]:
    return {judgement.finding for judgement in judge(plan, steps)}


CLOSED = LoadPlan(scenario="s", levels=(8.0,))
OPEN = LoadPlan(scenario="s", mode=Mode.POISSON, levels=(20.0,))


@pytest.mark.parametrize(
    ("says", "plan", "steps", "found"),
    [
        ("a calm step shows nothing", CLOSED, [step()], set()),
        (
            "21 of 256 in flight is the client's limit",
            CLOSED,
            [step(256.0, in_flight=21.0, ok=600)],
            {"client_limited"},
        ),
        (
            "a refused request is over at once and is not the client's limit",
            CLOSED,
            [step(in_flight=2.0, failures={Outcome.RATE_LIMITED: 300})],
            {"rate_limited"},
        ),
        ("wide error bounds are the client's limit", CLOSED, [step(invalid=60)], {"client_limited"}),
        ("late arrivals are the client's limit", OPEN, [step(20.0, late=30)], {"client_limited"}),
        ("arrivals that were never sent, too", OPEN, [step(20.0, dropped=30)], {"client_limited"}),
        ("flat throughput at twice the load", CLOSED, [step(8.0), step(16.0, ok=202)], {"saturated"}),
        ("throughput that doubles is not flat", CLOSED, [step(8.0), step(16.0, ok=400)], set()),
        ("a hardly higher load proves nothing", CLOSED, [step(8.0), step(10.0)], set()),
        (
            "a long tail is queueing",
            CLOSED,
            [step(ttft=spread(*[50.0] * 150, *[400.0] * 50))],
            {"queueing"},
        ),
        ("timeouts are named", CLOSED, [step(failures={Outcome.TIMEOUT_STALL: 4})], {"timing_out"}),
        ("other failures are named", CLOSED, [step(failures={Outcome.STREAM_TRUNCATED: 40})], {"failing"}),
        ("few samples are named", CLOSED, [step(ok=30)], {"few_samples"}),
        ("no samples are no P99", CLOSED, [step(ok=0, failures={Outcome.CONNECT: 20})], {"failing"}),
    ],
)
def test_judgement(says: str, plan: LoadPlan, steps: list[Step], found: set[str]) -> None:
    assert findings(plan, *steps) == {Finding(name) for name in found}


def test_words_carry_the_figures() -> None:
    (only,) = judge(CLOSED, [step(256.0, in_flight=21.0, ok=600)])
    assert "21.0 of 256" in only.words
    (one,) = judge(CLOSED, [step(1.0, ok=30)])
    assert one.words.startswith("at 1 client the P99")
    saturated = judge(CLOSED, [step(8.0), step(16.0, ok=202)])[0]
    assert "20.2 successful requests/s at 16 clients after 20.0 at 8 clients" in saturated.words


def test_failures_are_infinitely_late_beside_success_only() -> None:
    figures = figures_of(tally(ok=90, failures={Outcome.STREAM_ERROR: 10}))
    ttft = figures.clocks["ttft"]
    assert ttft.success_only["p95"] == pytest.approx(0.05, rel=0.01)
    assert ttft.with_failures["p95"] == float("inf")
    assert ttft.with_failures["p90"] == pytest.approx(0.05, rel=0.01)
    assert (figures.success_ratio, figures.qps, figures.success_qps) == (0.9, 10.0, 9.0)


def test_goodput_divides_by_requests_sent() -> None:
    figures = figures_of(tally(ok=50, good=30, failures={Outcome.HTTP_5XX: 10}))
    assert figures.goodput_ratio == 30 / 60
    assert figures.goodput_qps == 3.0


def test_nothing_measured_gives_nothing() -> None:
    figures = figures_of(Tally())
    assert (figures.qps, figures.success_ratio, figures.achieved_concurrency) == (None, None, None)
    assert figures.clocks["e2e"].with_failures["p99"] is None


def test_cost_and_energy() -> None:
    pricing = Pricing(input_per_mtok=1.0, output_per_mtok=2.0)
    bought = cost_of(step(input_tokens=1_000_000, output_tokens=500_000), pricing)
    assert bought.token_price == 2.0
    assert bought.per_million_tokens == pytest.approx(2.0 / 1.5)
    assert bought.joules_per_request is None
    owned = Pricing(capex=31_557.6, amortise_years=1.0, power_price_kwh=0.36, pue=1.5, watts=1000.0)
    cost = cost_of(step(wall_s=10.0, output_tokens=10_000), owned)
    assert cost.owned == pytest.approx(31_557.6 * 10 / 31_557_600 + 10_000 / 3.6e6 * 1.5 * 0.36)
    assert (cost.joules_per_request, cost.tokens_per_joule, cost.requests_per_watt) == (50.0, 1.0, 0.02)


@given(st.sampled_from([Mode.POISSON, Mode.CONSTANT]), st.floats(0.5, 5000), st.integers(0, 99))
def test_arrivals_rise_and_keep_their_rate(mode: Mode, rate: float, seed: int) -> None:
    due = list(islice(arrivals(mode, rate, random.Random(seed)), 2000))
    assert all(a <= b for a, b in pairwise(due))
    assert 2000 / rate == pytest.approx(due[-1] / 1e9, rel=0.15)


def test_constant_arrivals_do_not_drift() -> None:
    (last,) = islice(arrivals(Mode.CONSTANT, 3.0, random.Random(1)), 3_000_000, 3_000_001)
    assert last == 1_000_000_000_000_000


@given(st.integers(0, 10_000), st.integers(1, 64))
def test_shares_add_up(total: int, workers: int) -> None:
    shares = [share_of(total, workers, index) for index in range(workers)]
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1


def test_the_breaker_opens_on_refusals_in_a_row_and_stays_open() -> None:
    state = BreakerState(Breaker(consecutive=3))
    for outcome in (Outcome.RATE_LIMITED, Outcome.OK, Outcome.HTTP_5XX, Outcome.HTTP_5XX):
        state.note(outcome)
    assert state.why == ""
    state.note(Outcome.CONNECT)
    assert "3 refusals in a row" in state.why
    state.note(Outcome.OK)
    assert state.why


def test_the_breaker_opens_on_the_share_of_errors_only_when_the_window_is_full() -> None:
    state = BreakerState(Breaker(error_ratio=0.5, window=10, consecutive=99))
    for _ in range(9):
        state.note(Outcome.STREAM_TRUNCATED)
    assert state.why == ""
    state.note(Outcome.STREAM_TRUNCATED)
    assert "10 of the last 10" in state.why


@pytest.mark.parametrize(
    ("says", "change", "words"),
    [
        ("no level", {"levels": ()}, "at least one level"),
        ("more clients than the bound", {"levels": (300.0,)}, "at most 256"),
        ("half a client", {"levels": (1.5,)}, "whole"),
        ("a higher rate than the bound", {"mode": Mode.POISSON, "levels": (2000.0,)}, "at most 1000"),
        ("a trace mode without a trace", {"mode": Mode.TRACE}, "needs one"),
        ("a trace in another mode", {"trace": (Arrival(0.0, 1, 1),)}, "mode trace"),
        ("a knee without an objective", {"find_knee": True}, "give one"),
        ("a prompt that is never drawn", {"prompts": (Prompt(text="x", weight=0.0),)}, "weight"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(says: str, change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LoadPlan(**({"scenario": "s"} | change))


def test_no_bound_can_be_raised() -> None:
    with pytest.raises(ValueError, match="at most"):
        Bounds(concurrency=5000)
    capped = Bounds(requests=50, tokens=100).capped(Bounds(requests=70, tokens=10, money=2.0))
    assert (capped.requests, capped.tokens, capped.money) == (50, 10, 2.0)


def test_messages_survive_the_wire_and_strangers_are_refused() -> None:
    order = StepOrder(
        mode=Mode.CLOSED,
        clients=2,
        rate=None,
        requests=5,
        seconds=1.0,
        settle_s=0.0,
        tokens=9,
        breaker=Breaker(),
    )
    assert order_from_json(to_json(order)) == order
    assert order_from_json(to_json(Stop())) == Stop()
    progress = Progress(
        sent=1,
        ended=1,
        failed=0,
        in_flight=0,
        tokens=9,
        ttft_p50_s=0.5,
        ttft_p99_s=None,
        e2e_p50_s=None,
        e2e_p99_s=None,
    )
    assert report_from_json(to_json(progress)) == progress
    with pytest.raises(DecodeError, match="two versions"):
        report_from_json({"protocol": 99, "kind": "done", "body": {}})


def test_workers_join_into_one_tally() -> None:
    one = tally(ok=100, failures={Outcome.EMPTY: 1})
    both = joined((one, replace(one, wall_s=12.0)))
    assert (both.ended, both.succeeded, both.wall_s, both.ttft.n) == (202, 200, 12.0, 200)


def test_client_limits_need_enough_requests_to_tell() -> None:
    assert client_limits(CLOSED, step(256.0, in_flight=20.0, ok=300)) == ()
