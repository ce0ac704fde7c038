"""Load tests in the service: the target to itself, metrics of their own, one at a time."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from benchmarks.truth import TruthServer
from exporter.app.loads import LoadJobs, load_job_name
from exporter.app.meter import Meter
from exporter.load.runner import LoadRunner
from exporter.model.configuration import Configuration, LoadSpec, TargetPlan, WebOptions
from exporter.model.load_plan import LoadPlan, Mode, Prompt
from exporter.model.load_result import Pricing
from exporter.model.schedule import Slot
from exporter.model.target import Target
from exporter.reload import LoadTest, diff, loads
from exporter.scheduler.cron import CronGate
from exporter.scheduler.locks import Locks, Needs

Start = Callable[..., TruthServer]


def plan_of(base_url: str, every_s: float | None = 3600.0, **more: object) -> TargetPlan:
    plain = {"scenario": "nightly", "prompts": (Prompt(text="hi", max_tokens=4),), "requests_per_step": 120}
    spec = LoadSpec(plan=LoadPlan(**(plain | more)), every_s=every_s)
    return TargetPlan(target=Target(name="t", base_url=base_url, model="m"), probes=(), loads=(spec,))


def configured(*plans: TargetPlan) -> Configuration:
    return Configuration(targets=plans, benches=(), web=WebOptions(host="127.0.0.1", port=0))


def series(meter: Meter, name: str) -> dict[str, float]:
    lines = meter.render("").body.decode().splitlines()
    found = [line.rpartition(" ") for line in lines if line.startswith(f"{name}{{")]
    return {labels: float(value) for labels, _, value in found}


def one(meter: Meter, name: str, label: str = "") -> float:
    (value,) = [v for labels, v in series(meter, name).items() if label in labels]
    return value


class Bench:
    """A meter, locks, and the job of one load test."""

    def __init__(self, plan: TargetPlan) -> None:
        self.configuration = configured(plan)
        self.meter = Meter(self.configuration, unix_s=lambda: 1_700_000_000.0)
        self.locks = Locks()
        jobs = LoadJobs(
            runner=LoadRunner(), meter=self.meter, claim=self.locks.claiming, unix_s=lambda: 1_700_000_000.0
        )
        (self.test,) = loads(self.configuration)
        self.job = jobs.job(self.test)

    async def run(self) -> None:
        await self.job.run(Slot(0, 0))


@pytest.mark.cc
async def test_a_run_holds_the_target_and_becomes_metrics_of_its_own(start: Start) -> None:
    bench = Bench(plan_of(start("--ttft-ms", "4", "--itl-ms", "1").base_url))
    assert one(bench.meter, "inference_load_requests_total") == 0
    running = asyncio.create_task(bench.run())
    refused = []
    while not running.done():
        await asyncio.sleep(0.05)
        with bench.locks.trying(Needs(shared=frozenset({"target:t"}))) as is_free:
            refused.append(not is_free)
    await running
    assert refused.count(True) > 1
    assert one(bench.meter, "inference_load_requests_total") == 120
    assert one(bench.meter, "inference_load_time_to_first_token_seconds_count") <= 120
    assert one(bench.meter, "inference_load_tokens_total", 'kind="output"') == 480
    assert one(bench.meter, "inference_load_runs_total") == 1
    assert one(bench.meter, "inference_load_run_failures_total", "ended_early") == 0
    assert one(bench.meter, "inference_load_in_flight") == 0
    assert one(bench.meter, "inference_load_last_run_timestamp_seconds") == 1_700_000_000
    with bench.locks.trying(Needs(shared=frozenset({"target:t"}))) as is_free:
        assert is_free


@pytest.mark.cc
async def test_a_client_limited_step_publishes_no_latency(start: Start) -> None:
    from exporter.model.load_plan import Bounds

    url = start("--ttft-ms", "300").base_url
    more = {
        "mode": Mode.CONSTANT,
        "levels": (100.0,),
        "seconds_per_step": 0.5,
        "bounds": Bounds(concurrency=2),
    }
    bench = Bench(plan_of(url, **more))
    await bench.run()
    assert one(bench.meter, "inference_load_client_limited_steps_total") == 1
    assert one(bench.meter, "inference_load_requests_total") > 0
    assert one(bench.meter, "inference_load_time_to_first_token_seconds_count") == 0


async def test_a_second_run_is_refused_and_counted() -> None:
    bench = Bench(plan_of("http://127.0.0.1:9/v1"))
    async with bench.locks.claiming("target:t", 1.0) as is_ours:
        assert is_ours
        await bench.run()
    assert one(bench.meter, "inference_load_run_failures_total", "busy") == 1


async def test_a_run_that_cannot_begin_is_counted() -> None:
    bench = Bench(plan_of("http://no-such-host.invalid/v1"))
    await bench.run()
    assert one(bench.meter, "inference_load_run_failures_total", "not_begun") == 1


async def test_a_claim_waits_for_sharers_and_keeps_new_ones_out() -> None:
    locks = Locks()
    shared = Needs(shared=frozenset({"x"}))
    order = []

    async def claim() -> None:
        async with locks.claiming("x", 5.0) as is_ours:
            order.append(is_ours)

    with locks.trying(shared) as first:
        assert first
        task = asyncio.create_task(claim())
        await asyncio.sleep(0)
        with locks.trying(shared) as late:
            assert not late
        assert order == []
    await task
    assert order == [True]
    with locks.trying(Needs(exclusive=frozenset({"x"}))) as is_free:
        assert is_free


async def test_a_claim_gives_up_on_sharers_that_stay() -> None:
    locks = Locks()
    with locks.trying(Needs(shared=frozenset({"x"}))):
        async with locks.claiming("x", 0.01) as is_ours:
            assert not is_ours
        with locks.trying(Needs(shared=frozenset({"x"}))) as is_free:
            assert is_free


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_a_crontab_line_comes_up_once() -> None:
    now = [at("2026-01-01T02:59:50")]
    gate = CronGate("0 3 * * *", lambda: now[0])
    asked = []
    for _ in range(4):
        now[0] += 30
        asked.append(gate.is_due())
    assert asked == [True, False, False, False]
    now[0] = at("2026-01-02T02:59:00")
    gate.skip()
    now[0] = at("2026-01-02T03:00:30")
    assert gate.is_due()


def test_what_came_up_during_a_run_is_skipped() -> None:
    now = [at("2026-01-01T02:59:50")]
    gate = CronGate("*/5 * * * *", lambda: now[0])
    now[0] = at("2026-01-01T03:06:00")
    gate.skip()
    assert not gate.is_due()


def test_a_reload_replaces_what_changed_and_only_that() -> None:
    same, old, new = plan_of("http://h/v1"), plan_of("http://h/v1"), plan_of("http://h/v1", every_s=7200.0)
    assert diff(configured(same), configured(old)).loads_added == ()
    change = diff(configured(old), configured(new))
    assert [load_job_name(test) for test in (*change.loads_removed, *change.loads_added)] == [
        "load:t/nightly"
    ] * 2
    assert "load tests added: 1" in change.summary
    assert list(loads(configured(plan_of("http://h/v1", every_s=None)))) == []
    assert LoadTest(old.target, old.loads[0], Pricing()) == next(iter(loads(configured(old))))
