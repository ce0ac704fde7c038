"""``/probe``: in time, one at a time to a target, only what is configured, and its series alone."""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exporter.app.budgets import Budgets
from exporter.app.history import History
from exporter.app.on_demand import OnDemand, deadline_s
from exporter.app.probing import Probing
from exporter.model.clocks import Clock
from exporter.model.configuration import Configuration, TargetPlan, WebOptions
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import Budget, ProbeSpec, Target
from exporter.probes.base import Doors, ProbeKind
from exporter.probes.chat import Params
from exporter.scheduler.locks import Needs
from exporter.web.answers import ProbeQuery
from tests.metrics.builders import probe, target
from tests.model.streams import answered
from tests.probes.specs import FakeApi


class Server:
    """A probe kind that takes its time and counts who is in it."""

    def __init__(self) -> None:
        self.asked = 0
        self.inside = 0
        self.most_inside = 0
        self.timeouts_s: list[float] = []
        self.go_on = asyncio.Event()
        self.arrivals = asyncio.Semaphore(0)
        self.go_on.set()
        self.raises = False

    async def run(self, target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
        self.asked += 1
        self.arrivals.release()
        self.timeouts_s.append(spec.timeout_s)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            async with asyncio.timeout(spec.timeout_s):
                await asyncio.sleep(0.001)
                await self.go_on.wait()
            outcome = Outcome.OK
        except TimeoutError:
            outcome = Outcome.TIMEOUT_TOTAL
        finally:
            self.inside -= 1
        if self.raises:
            raise RuntimeError("a bug")
        return ProbeResult(target=target, spec=spec, outcome=outcome, finished_unix_s=1.7e9)


class Schedule:
    """Stands for the scheduler's holds."""

    is_free = True

    def holding(self, needs: Needs) -> AbstractContextManager[bool]:
        @contextmanager
        def held() -> Iterator[bool]:
            yield self.is_free

        return held()


class World:
    def __init__(self, *targets: Target) -> None:
        self.server = Server()
        self.schedule = Schedule()
        self.booked: list[ProbeResult] = []
        kind = ProbeKind(
            name="chat", params=Params, clocks=lambda _: frozenset({Clock.E2E}), run=self.server.run
        )
        specs = (probe("short", params=Params()), probe("long", params=Params()))
        plans = tuple(TargetPlan(target=each, probes=specs) for each in targets)
        configuration = Configuration(targets=plans, benches=(), web=WebOptions(host="h", port=1))
        budgets = Budgets(lambda: 1.7e9, path=None, on_spent=lambda *_: None, on_file=lambda _: None)
        probing = Probing(
            kinds={"chat": kind},
            doors=Doors(api=FakeApi(answered()), unix_s=lambda: 1.7e9),
            budgets=budgets,
            history=History(),
        )
        self.page = OnDemand(
            probing, self.schedule, lambda: configuration, self.booked.append, unix_s=lambda: 1.7e9
        )

    async def ask(self, target: str = "prod", probe: str | None = "short", **more: object):
        query = {"target": target, "probe": probe, "scrape_timeout_s": None, "accept": "", "debug": False}
        return await self.page.answer(ProbeQuery(**(query | more)))


async def test_a_probes_own_series_and_no_others() -> None:
    answer = await World(target()).ask()
    text = answer.body.decode()
    assert answer.status == 200
    assert 'inference_probe_success{target="prod",model="llama",probe="short"} 1.0' in text.replace(
        'model="llama",probe="short",target="prod"', 'target="prod",model="llama",probe="short"'
    )
    assert "process_" not in text
    assert "inference_exporter_" not in text


async def test_a_failure_is_an_answer_in_time() -> None:
    world = World(target())
    world.server.go_on.clear()
    answer = await world.ask(scrape_timeout_s=0.2)
    assert answer.status == 200
    assert b'reason="timeout_total",target="prod"} 1.0' in answer.body
    breaches = [
        line for line in answer.body.splitlines() if line.startswith(b"inference_sla_breaches_total{")
    ]
    assert [line.endswith(b" 1.0") for line in breaches] == [True, True]
    assert 0 < world.server.timeouts_s[0] <= 0.1


async def test_a_flood_shares_one_request_at_a_time() -> None:
    world = World(target())
    answers = await asyncio.gather(*(world.ask(probe=("short", "long")[i % 2]) for i in range(1000)))
    assert {answer.status for answer in answers} == {200}
    assert world.server.most_inside == 1
    assert world.server.asked == 2


async def test_targets_do_not_wait_for_each_other() -> None:
    world = World(target("a"), target("b"))
    world.server.go_on.clear()
    both = asyncio.gather(world.ask("a"), world.ask("b"))
    async with asyncio.timeout(10):
        await world.server.arrivals.acquire()
        await world.server.arrivals.acquire()
    world.server.go_on.set()
    assert [answer.status for answer in await both] == [200, 200]


async def test_who_waits_too_long_for_its_turn_is_told_to_come_again() -> None:
    world = World(target())
    world.server.go_on.clear()
    first = asyncio.create_task(world.ask(probe="long"))
    await asyncio.sleep(0.01)
    second = await world.ask(probe="short", scrape_timeout_s=0.1)
    world.server.go_on.set()
    assert (second.status, (await first).status) == (503, 200)
    await asyncio.gather(*world.page._going.values())
    assert world.server.asked == 1


async def test_a_load_test_on_the_target_goes_first() -> None:
    world = World(target())
    world.schedule.is_free = False
    assert (await world.ask()).status == 503
    assert world.server.asked == 0


async def test_an_asker_who_leaves_does_not_end_the_others_probe() -> None:
    world = World(target())
    world.server.go_on.clear()
    leaving, staying = (asyncio.create_task(world.ask()) for _ in range(2))
    await asyncio.sleep(0.01)
    leaving.cancel()
    await asyncio.sleep(0)
    world.server.go_on.set()
    assert (await staying).status == 200
    assert world.server.asked == 1


async def test_the_budget_holds_here_too_and_what_is_spent_is_told() -> None:
    world = World(target(budget=Budget(tokens_per_day=1)))
    answer = await world.ask()
    assert answer.status == 200
    assert b'cause="over_budget"' in answer.body
    assert world.server.asked == 0
    assert [result.outcome for result in world.booked] == [Outcome.OVER_BUDGET]


async def test_a_bug_is_an_internal_failure_and_the_page_lives_on() -> None:
    world = World(target())
    world.server.raises = True
    body = (await world.ask()).body
    assert b'reason="internal",target="prod"} 1.0' in body
    assert (
        b'inference_probe_last_timestamp_seconds{model="llama",probe="short",target="prod"} 1.7e+09' in body
    )
    world.server.raises = False
    assert b'reason="internal",target="prod"} 0.0' in (await world.ask()).body


async def test_only_configured_names_are_probed() -> None:
    world = World(target())
    for names in ({"target": "http://evil.example/v1"}, {"probe": "nothing"}):
        assert (await world.ask(**names)).status == 404
    assert world.server.asked == 0
    assert (await world.ask(probe=None)).status == 200


async def test_debug_shows_the_report_before_the_metrics() -> None:
    answer = await World(target()).ask(debug=True)
    assert answer.body.startswith(b"prod/short (chat) ok at ")
    assert b"# TYPE inference_probe_success gauge" in answer.body


@pytest.mark.parametrize(
    ("spec_s", "scrape_s", "deadline"),
    [(60.0, 10.0, 9.5), (5.0, 10.0, 5.0), (60.0, 0.6, 0.3), (60.0, 0.1, 0.05), (60.0, None, 60.0)],
)
def test_the_deadline_keeps_within_the_scrape(spec_s: float, scrape_s: float | None, deadline: float) -> None:
    assert deadline_s(spec_s, scrape_s) == pytest.approx(deadline)


@example(spec_s=1.0, scrape_s=5e-324)
@given(spec_s=st.floats(0.001, 3600), scrape_s=st.floats(-100, 3600))
def test_the_deadline_is_never_negative(spec_s: float, scrape_s: float) -> None:
    assert 0 < deadline_s(spec_s, scrape_s) <= spec_s
