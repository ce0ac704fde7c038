"""Whole load runs: real workers against a server that knows the truth."""

import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from benchmarks.truth import TruthServer, loopback_certificate
from exporter.load.crew import start_worker
from exporter.load.order import Live, LoadError, LoadOrder
from exporter.load.runner import LoadRunner
from exporter.model.clocks import Clock
from exporter.model.energy import EnergyReading, Validity
from exporter.model.load_figures import figures_of
from exporter.model.load_judgement import Finding, judge
from exporter.model.load_plan import Api, Arrival, Bounds, Breaker, LoadPlan, Mode, Prompt, Within
from exporter.model.load_result import LoadRun
from exporter.model.outcome import Outcome
from exporter.model.power_plan import Gpus
from exporter.model.target import Azure, Header, KeySource, Target, TlsOptions

Start = Callable[..., TruthServer]
pytestmark = pytest.mark.cc
VALUES = 6
"""Of an answer of four tokens: TTFT, TPOT, E2E and three gaps."""
QUICK = ("--ttft-ms", "4", "--itl-ms", "1")


def target(base_url: str, **more: object) -> Target:
    return Target(**({"name": "truth", "base_url": base_url, "model": "mock"} | more))


def plan(**more: object) -> LoadPlan:
    plain = {
        "scenario": "s",
        "prompts": (Prompt(text="hi", max_tokens=4),),
        "requests_per_step": 20,
        "timeout_s": 10.0,
    }
    return LoadPlan(**(plain | more))


async def load(base_url: str, *, other: str | None = None, **more: object) -> LoadRun:
    b = target(other, name="other") if other else None
    return await LoadRunner().run(LoadOrder(plan=plan(**more), target=target(base_url), other=b))


async def test_a_closed_loop_sends_what_was_asked_at_the_concurrency_that_was_asked(start: Start) -> None:
    server = start(*QUICK)
    run = await load(server.base_url, levels=(1.0, 4.0), requests_per_step=40)
    server.stop()
    assert run.stopped == ""
    assert [step.tally.succeeded for step in run.steps] == [40, 40]
    assert len(server.log()) == 80
    assert max(true.in_flight for true in server.log()) == 4
    tally = run.steps[1].tally
    assert tally.values == 40 * VALUES  # on a busy host some of them are invalid and in no distribution
    assert (tally.output_tokens, tally.tokens_from_usage, tally.connections) == (160, 40, 4)
    assert tally.ttft.n == 0 or tally.ttft.min_ns >= 3_900_000
    assert len({true.connection for true in server.log()}) == 5


async def test_clocks_are_those_of_the_server(start: Start) -> None:
    server = start("--ttft-ms", "30", "--itl-ms", "10", "--role", "early")
    run = await load(server.base_url, requests_per_step=10)
    server.stop()
    true = [t.first_ns - t.received_ns for t in server.log()]
    ttft = run.steps[0].tally.ttft
    assert ttft.n == 0 or ttft.min_ns >= min(true) * 0.99  # the role came at once, and is no token


@pytest.mark.parametrize(
    ("api", "stream"),
    [(Api.CHAT, False), (Api.COMPLETIONS, True), (Api.COMPLETIONS, False), (Api.EMBEDDINGS, False)],
)
async def test_every_api(start: Start, api: Api, stream: bool) -> None:
    run = await load(start(*QUICK).base_url, api=api, stream=stream)
    tally = run.steps[0].tally
    assert (tally.succeeded, tally.failed) == (20, 0)
    assert tally.values == 20 * (VALUES if stream else 1)


async def test_tls(start: Start) -> None:
    with loopback_certificate() as (chain, key, ca):
        server = start(*QUICK, certificate=(chain, key))
        order = LoadOrder(
            plan=plan(levels=(4.0,)), target=target(server.base_url, tls=TlsOptions(ca_file=str(ca)))
        )
        run = await LoadRunner().run(order)
        strangers = await LoadRunner().run(LoadOrder(plan=plan(), target=target(server.base_url)))
    assert run.steps[0].tally.succeeded == 20
    assert run.steps[0].tally.values == 20 * VALUES
    assert strangers.steps[0].tally.count(Outcome.TLS) == strangers.steps[0].tally.ended > 0


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("trunc", Outcome.STREAM_TRUNCATED),
        ("cut", Outcome.STREAM_TRUNCATED),
        ("stream-error", Outcome.STREAM_ERROR),
        ("err", Outcome.HTTP_5XX),
        ("bad-json", Outcome.INVALID_RESPONSE),
        ("html", Outcome.INVALID_RESPONSE),
        ("empty", Outcome.EMPTY),
    ],
)
async def test_what_fails_is_a_failure(start: Start, fault: str, outcome: Outcome) -> None:
    breaker = Breaker(consecutive=1000, window=1000)
    run = await load(start(*QUICK).with_shape(fault=fault), requests_per_step=6, breaker=breaker)
    tally = run.steps[0].tally
    assert (tally.count(outcome), tally.succeeded) == (6, 0), tally.outcomes
    assert figures_of(tally).success_ratio == 0.0
    assert tally.ttft.n == 0


async def test_a_server_that_closes_after_each_answer_gets_a_new_connection_each_time(start: Start) -> None:
    run = await load(start(*QUICK, "--close").base_url, levels=(3.0,), requests_per_step=30)
    tally = run.steps[0].tally
    assert (tally.succeeded, tally.failed, tally.connections) == (30, 0, 30)


@pytest.mark.parametrize(
    ("says", "shape", "tokens"),
    [
        ("no [DONE] but a finish_reason", ("--no-done",), 4),
        ("CR LF", ("--crlf",), 4),
        ("keep-alive comments", ("--comment", "openrouter"), 4),
        ("reasoning first", ("--reasoning", "2"), 4),
        ("tool calls", ("--tool-calls",), 4),
        ("four events a write", ("--events-per-write", "4"), 4),
        ("halves of an event", ("--split-ms", "1"), 4),
    ],
)
async def test_every_shape_is_a_success_with_its_tokens(
    start: Start, says: str, shape: tuple[str, ...], tokens: int
) -> None:
    run = await load(start(*QUICK, *shape).base_url, requests_per_step=6)
    tally = run.steps[0].tally
    assert (tally.succeeded, tally.failed) == (6, 0), tally.outcomes
    assert tally.output_tokens == 6 * tokens


async def test_a_deadline_is_a_timeout_of_its_class(start: Start) -> None:
    slow = await load(start("--ttft-ms", "5000").base_url, requests_per_step=2, timeout_s=0.3)
    assert slow.steps[0].tally.count(Outcome.TIMEOUT_FIRST_TOKEN) == 2
    url = start(*QUICK).with_shape(fault="stall", fault_at=2, stall_ms=5000)
    stalled = await load(url, requests_per_step=2, timeout_s=0.4)
    assert stalled.steps[0].tally.count(Outcome.TIMEOUT_STALL) == 2


async def test_a_server_that_dies_midway_leaves_failures_and_a_report(start: Start) -> None:
    server = start("--ttft-ms", "20", "--itl-ms", "5")

    def kill_soon(live: Live) -> None:
        if live.parts and live.parts[0].ended > 4:
            os.kill(server.pid, signal.SIGKILL)

    order = LoadOrder(plan=plan(levels=(4.0,), requests_per_step=10_000), target=target(server.base_url))
    run = await LoadRunner().run(order, watch=kill_soon)
    tally = run.steps[0].tally
    assert tally.succeeded > 0
    assert tally.failed >= 4
    assert "refusals in a row" in run.stopped
    assert Finding.FAILING in {judgement.finding for judgement in judge(run.plan, run.steps)}


async def test_stop_keeps_what_was_measured(start: Start) -> None:
    stop = asyncio.Event()
    order = LoadOrder(plan=plan(requests_per_step=10_000), target=target(start(*QUICK).base_url))

    def stop_soon(live: Live) -> None:
        if live.parts and live.parts[0].ended > 10:
            stop.set()

    run = await LoadRunner().run(order, stop=stop, watch=stop_soon)
    assert run.stopped == "stopped by hand"
    assert 10 < run.steps[0].tally.succeeded < 10_000


@pytest.mark.parametrize(
    ("says", "bounds", "words"),
    [
        ("requests", Bounds(requests=7), "7 requests"),
        ("tokens", Bounds(tokens=150), "tokens"),
    ],
)
async def test_no_bound_is_exceeded(start: Start, says: str, bounds: Bounds, words: str) -> None:
    server = start(*QUICK)
    run = await load(server.base_url, levels=(2.0, 2.0), bounds=bounds)
    server.stop()
    used = sum(step.tally.input_tokens + step.tally.output_tokens for step in run.steps)
    assert words in run.stopped
    assert len(server.log()) <= 7 if says == "requests" else used <= 150 + 2 * 6


async def test_seconds_are_a_bound(start: Start) -> None:
    run = await load(start(*QUICK).base_url, levels=(1.0,), requests_per_step=10_000, seconds_per_step=0.3)
    assert 0 < run.steps[0].tally.succeeded < 10_000
    assert run.steps[0].tally.sending_s == pytest.approx(0.3, abs=0.2)


async def test_the_settle_time_is_left_out_and_reported(start: Start) -> None:
    server = start(*QUICK)
    run = await load(server.base_url, settle_s=0.2, requests_per_step=10)
    server.stop()
    tally = run.steps[0].tally
    assert (tally.sent, tally.ended) == (10, 10)
    assert tally.settle_requests > 0
    assert len(server.log()) == 10 + tally.settle_requests


@pytest.mark.parametrize("mode", [Mode.POISSON, Mode.CONSTANT])
async def test_an_open_loop_does_not_wait_for_answers(start: Start, mode: Mode) -> None:
    server = start("--ttft-ms", "200", "--itl-ms", "1")
    run = await load(server.base_url, mode=mode, levels=(100.0,), requests_per_step=30)
    server.stop()
    tally = run.steps[0].tally
    assert tally.succeeded == 30
    assert max(true.in_flight for true in server.log()) > 5
    assert (tally.e2e_scheduled.n, tally.ttft_scheduled.n) == (tally.e2e.n, tally.ttft.n)
    assert tally.e2e_scheduled.sum_ns >= tally.e2e.sum_ns


async def test_arrivals_beyond_the_bound_on_concurrency_are_dropped_counted_and_called_the_clients_limit(
    start: Start,
) -> None:
    run = await load(
        start("--ttft-ms", "300").base_url,
        mode=Mode.CONSTANT,
        levels=(100.0,),
        seconds_per_step=0.5,
        bounds=Bounds(concurrency=2),
    )
    assert run.steps[0].tally.dropped > 10
    assert Finding.CLIENT_LIMITED in {judgement.finding for judgement in judge(run.plan, run.steps)}


async def test_a_trace_is_replayed_with_its_lengths(start: Start) -> None:
    server = start(*QUICK)
    trace = (Arrival(0.0, 10, 2), Arrival(0.05, 20, 3), Arrival(0.3, 5, 4))
    run = await load(server.base_url, mode=Mode.TRACE, trace=trace)
    server.stop()
    true = sorted(server.log(), key=lambda t: t.received_ns)
    assert [t.tokens for t in true] == [2, 3, 4]
    assert (true[2].received_ns - true[0].received_ns) / 1e9 == pytest.approx(0.3, abs=0.1)
    assert run.steps[0].tally.succeeded == 3


async def test_a_mix_is_drawn_by_weight_and_alike_every_time(start: Start) -> None:
    prompts = (Prompt(text="a", max_tokens=1, weight=3.0), Prompt(text="b", max_tokens=5))
    tokens = []
    for _ in range(2):
        run = await load(start(*QUICK).base_url, prompts=prompts, requests_per_step=60)
        tokens.append(run.steps[0].tally.output_tokens)
    assert tokens[0] == tokens[1]
    assert 60 * 1.2 < tokens[0] < 60 * 3.5


async def test_several_workers_share_a_step(start: Start) -> None:
    server = start(*QUICK)
    run = await load(server.base_url, levels=(4.0,), workers=2, requests_per_step=41)
    server.stop()
    assert (run.steps[0].tally.succeeded, len(server.log())) == (41, 41)
    assert max(true.in_flight for true in server.log()) == 4


async def test_two_targets_take_turns(start: Start) -> None:
    a, b = start(*QUICK), start("--ttft-ms", "40", "--itl-ms", "1")
    run = await load(a.base_url, other=b.base_url, repeats=3, requests_per_step=5)
    assert "".join(step.side for step in run.steps) == "abbaab"
    walls = {side: min(s.tally.wall_s for s in run.steps if s.side == side) for side in "ab"}
    assert walls["a"] < walls["b"]
    assert walls["b"] >= 5 * 0.039


async def test_goodput_counts_what_keeps_every_objective(start: Start) -> None:
    url = start("--ttft-ms", "10", "--itl-ms", "1").base_url
    run = await load(url, good=(Within(Clock.TTFT, 5.0), Within(Clock.E2E, 0.000001)))
    assert (run.steps[0].tally.succeeded, run.steps[0].tally.good) == (20, 0)
    run = await load(url, good=(Within(Clock.TTFT, 5.0),))
    assert run.steps[0].tally.good == 20


async def test_the_knee_is_found(start: Start) -> None:
    url = start("--ttft-ms", "20", "--itl-ms", "1").base_url
    run = await load(url, find_knee=True, levels=(1.0, 4.0), good=(Within(Clock.TTFT, 0.0001),))
    assert run.knee is not None
    assert (run.knee.holds, run.knee.fails) == (None, 1.0)
    run = await load(
        url, find_knee=True, levels=(1.0, 4.0), good=(Within(Clock.TTFT, 5.0),), requests_per_step=100
    )
    assert (run.knee.holds, run.knee.fails) == (4.0, None)


async def test_a_worker_that_is_killed_is_told_and_the_rest_is_kept(start: Start) -> None:
    workers, killed = [], []

    async def remember():
        workers.append(await start_worker())
        return workers[-1]

    def kill_one(live: Live) -> None:
        if live.parts and live.parts[0].ended > 4 and workers[0].pid not in killed:
            killed.append(workers[0].pid)
            os.kill(workers[0].pid, signal.SIGKILL)

    order = LoadOrder(
        plan=plan(levels=(4.0,), workers=2, requests_per_step=400), target=target(start(*QUICK).base_url)
    )
    run = await LoadRunner(start=remember).run(order, watch=kill_one)
    assert "a load worker was lost" in run.stopped
    assert run.steps[0].tally.succeeded == 200


@pytest.mark.parametrize(
    ("says", "change", "words"),
    [
        ("a key that is not there", {"key": KeySource(env="NO_SUCH_KEY_IS_SET")}, "NO_SUCH_KEY_IS_SET"),
        ("azure", {"azure": Azure(api_version="2024-10-21", deployment=None)}, "azure"),
        ("headers", {"headers": (Header(name="X-Tenant", value="a"),)}, "headers"),
        ("a proxy", {"proxy": "http://proxy:3128"}, "proxy"),
        ("a name that cannot be resolved", {"base_url": "http://no-such-host.invalid/v1"}, "cannot begin"),
    ],
)
async def test_what_cannot_begin_says_why(says: str, change: dict[str, object], words: str) -> None:
    order = LoadOrder(plan=plan(), target=target(**({"base_url": "http://127.0.0.1:9/v1"} | change)))
    with pytest.raises(LoadError, match=words):
        await LoadRunner().run(order)


async def test_a_second_test_of_the_same_endpoint_is_refused_and_another_is_not(start: Start) -> None:
    slow, other = start("--ttft-ms", "200"), start(*QUICK)
    running = asyncio.create_task(load(slow.base_url, requests_per_step=8))
    await asyncio.sleep(0)
    with pytest.raises(LoadError, match="another load test is running"):
        await load(f"{slow.base_url}/")
    assert (await load(other.base_url)).steps[0].tally.succeeded == 20
    assert (await running).steps[0].tally.succeeded == 8
    assert (await load(slow.base_url, requests_per_step=2)).steps[0].tally.succeeded == 2


async def test_nobody_there_opens_the_breaker() -> None:
    run = await load("http://127.0.0.1:9/v1")
    assert run.steps[0].tally.count(Outcome.CONNECT) == run.steps[0].tally.ended >= 20
    assert "refusals" in run.stopped or run.steps[0].tally.ended == 20


class FakeWindow:
    """A window in which a hundred watts were drawn, or nothing could be read."""

    def __init__(self, validity: Validity) -> None:
        self.reading = None
        self._validity = validity

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def end(self) -> EnergyReading:
        known = self._validity is Validity.OK
        self.reading = EnergyReading(
            validity=self._validity, joules=500.0 if known else None, seconds=5.0 if known else None
        )
        return self.reading


class FakeMetering:
    def __init__(self, validity: Validity) -> None:
        self._validity = validity
        self.asked = []

    def window(self, source: object) -> FakeWindow:
        self.asked.append(source)
        return FakeWindow(self._validity)

    def idle_w(self, source: object) -> None:
        return None


@pytest.mark.parametrize("validity", list(Validity))
async def test_energy_is_mean_power_times_wall_time(start: Start, validity: Validity) -> None:
    gpus = Gpus(uuids=("GPU-1",))
    meter = FakeMetering(validity)
    server = start(*QUICK)
    order = LoadOrder(plan=plan(), target=target(server.base_url, power=gpus), meter=meter)
    run = await LoadRunner().run(order)
    (step,) = run.steps
    known = 100.0 * step.tally.wall_s if validity is Validity.OK else None
    assert step.joules == (None if known is None else pytest.approx(known))
    assert meter.asked == [gpus]


async def test_a_target_without_power_is_not_metered(start: Start) -> None:
    meter = FakeMetering(Validity.OK)
    order = LoadOrder(plan=plan(), target=target(start(*QUICK).base_url), meter=meter)
    run = await LoadRunner().run(order)
    assert (run.steps[0].joules, meter.asked) == (None, [])
