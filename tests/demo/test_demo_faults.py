import asyncio
import dataclasses
import time
from itertools import pairwise

import aiohttp
import openai
import pytest

from exporter.demo.answers import MODEL_ID
from exporter.demo.events import Delta, Done, Finish
from exporter.demo.faults import BrokenOffError, Fault, Faults, afflicted
from exporter.demo.settings import FaultRates

BODY = {
    "model": MODEL_ID,
    "messages": [{"role": "user", "content": "hi"}],
    "max_tokens": 12,
    "temperature": 0,
    "ignore_eos": True,
    "stream_options": {"include_usage": True},
    "stream": True,
}


def test_faults_strike_as_often_as_asked_and_the_same_ones_with_the_same_seed() -> None:
    rates = FaultRates(error_rate=0.2, stall_rate=0.5, fault_seed=3)
    drawn = [[Faults(rates).draw() for _ in range(1)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    faults, again = Faults(rates), Faults(rates)
    many = [faults.draw() for _ in range(2000)]
    assert many == [again.draw() for _ in range(2000)]
    assert 0.15 < sum(fault.error_status == 500 for fault in many) / 2000 < 0.25
    assert 0.45 < sum(fault.stall_s == 60 for fault in many) / 2000 < 0.55
    assert not any(
        fault.cut or fault.truncated or fault.rate_limited or fault.slow_factor != 1 for fault in many
    )
    assert {fault.after for fault in many} == {1, 2, 3, 4}


def test_one_rate_does_not_move_the_victims_of_another() -> None:
    rates = FaultRates(cut_rate=0.3)
    alone, beside = Faults(rates), Faults(dataclasses.replace(rates, error_rate=0.5, slow_rate=0.5))
    assert [alone.draw().cut for _ in range(200)] == [beside.draw().cut for _ in range(200)]


def test_by_default_nothing_goes_wrong() -> None:
    faults = Faults(FaultRates())
    assert {dataclasses.replace(faults.draw(), after=1) for _ in range(100)} == {Fault()}


class FakeTime:
    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


async def suffer(fault: Fault, deltas: int) -> tuple[int, bool, FakeTime]:
    """Return how many events got through, whether it broke off, and the sleeps."""
    fake = FakeTime()

    async def source():
        for n in range(deltas):
            fake.now = max(fake.now, 101.0 + n)
            yield Delta(101.0 + n, "x")
        yield Done(101.0 + deltas, Finish.STOP, deltas)

    passed = 0
    try:
        async for _ in afflicted(source(), fault, arrived_s=100.0, clock=fake.clock, sleep=fake.sleep):
            passed += 1
    except BrokenOffError:
        return passed, True, fake
    return passed, False, fake


@pytest.mark.parametrize(
    ("fault", "deltas", "passed", "broken", "slept"),
    [
        pytest.param(Fault(), 3, 4, False, [], id="no fault"),
        pytest.param(Fault(stall_s=9, after=2), 5, 6, False, [9], id="one stall in mid-answer"),
        pytest.param(
            Fault(stall_s=9, after=4), 2, 3, False, [9], id="a stall before the end of a short answer"
        ),
        pytest.param(Fault(cut=True, after=2), 5, 2, True, [], id="a cut in mid-answer"),
        pytest.param(Fault(truncated=True, after=4), 2, 2, True, [], id="a truncation of a short answer"),
        pytest.param(Fault(cut=True, stall_s=9, after=1), 5, 1, True, [9], id="a stall, then a cut"),
        pytest.param(
            Fault(slow_factor=3), 2, 3, False, [2, 3, 3], id="three times as slow from the arrival on"
        ),
    ],
)
async def test_what_gets_through(
    fault: Fault, deltas: int, passed: int, broken: bool, slept: list[float]
) -> None:
    events, was_broken, fake = await suffer(fault, deltas)
    assert (events, was_broken) == (passed, broken)
    assert fake.slept == pytest.approx(slept)


async def raw_stream(endpoint) -> tuple[bytes, list[float], bool]:
    """Return the body, the times of its parts, and whether the message was complete."""
    body, times, url = b"", [], endpoint.base_url + "/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(url, json=BODY) as answer:
        assert answer.status == 200
        try:
            async for part in answer.content.iter_any():
                times.append(time.monotonic())
                body += part
        except aiohttp.ClientPayloadError:
            return body, times, False
    return body, times, True


async def ask(client, **options):
    defaults = {"model": MODEL_ID, "messages": BODY["messages"], "max_tokens": 12}
    return await client.chat.completions.create(**defaults | options)


@pytest.mark.parametrize(
    ("flags", "expected", "status"),
    [
        pytest.param(["--error-rate", "1"], openai.InternalServerError, 500, id="500 by default"),
        pytest.param(
            ["--error-rate=1", "--error-status=503"], openai.InternalServerError, 503, id="503 if asked"
        ),
        pytest.param(["--rate-limit-rate", "1"], openai.RateLimitError, 429, id="429"),
    ],
)
async def test_refusals(start, flags: list[str], expected: type[openai.APIStatusError], status: int) -> None:
    async with start(*flags).client() as client:
        for call in (
            ask(client),
            ask(client, stream=True),
            client.embeddings.create(model=MODEL_ID, input="x"),
        ):
            with pytest.raises(expected, match="Injected fault") as raised:
                await call
            assert raised.value.status_code == status
        assert [model.id async for model in client.models.list()] == [MODEL_ID]
        with pytest.raises(openai.BadRequestError):
            await ask(client, max_tokens=0)


async def test_a_share_of_the_requests_fails(start) -> None:
    async with start("--error-rate", "0.5", "--fault-seed", "1").client() as client:
        outcomes = await asyncio.gather(
            *(ask(client, max_tokens=1) for _ in range(40)), return_exceptions=True
        )
    failed = sum(isinstance(outcome, openai.InternalServerError) for outcome in outcomes)
    assert 8 < failed < 32
    assert failed + sum(not isinstance(outcome, Exception) for outcome in outcomes) == 40


async def test_a_cut_breaks_the_connection_in_mid_answer(start) -> None:
    endpoint = start("--cut-rate", "1")
    body, _, complete = await raw_stream(endpoint)
    assert not complete
    assert 1 <= body.count(b'"content":') - 1 <= 4
    assert b'"finish_reason":"length"' not in body
    async with endpoint.client() as client:
        with pytest.raises(openai.APIConnectionError):
            await ask(client)
        with pytest.raises(openai.APIConnectionError):
            await client.embeddings.create(model=MODEL_ID, input="x")
    assert endpoint.health()["active"] == 0
    assert endpoint.stop() == 0


async def test_a_truncated_stream_ends_cleanly_and_early(start) -> None:
    endpoint = start("--truncate-rate", "1")
    body, _, complete = await raw_stream(endpoint)
    assert complete
    assert 1 <= body.count(b'"content":') - 1 <= 4
    assert b"[DONE]" not in body
    assert b'"finish_reason":"length"' not in body
    assert b'"usage":{' not in body
    async with endpoint.client() as client:
        assert (await ask(client)).choices[0].finish_reason in {"stop", "length"}


async def test_a_stall_is_one_long_gap(start) -> None:
    endpoint = start("--stall-rate", "1", "--stall-s", "1")
    body, times, complete = await raw_stream(endpoint)
    assert complete
    assert body.endswith(b"data: [DONE]\n\n")
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    assert gaps[-1] >= 0.95
    assert sum(gap > 0.9 for gap in gaps) == 1
    async with endpoint.client(timeout=0.3) as client:
        with pytest.raises(openai.APITimeoutError):
            await ask(client)


async def test_a_slow_answer_takes_a_multiple_of_its_time(start) -> None:
    quick, slow = start(), start("--slow-rate", "1", "--slow-factor", "20")

    async def seconds(endpoint) -> float:
        begun = time.monotonic()
        body, _, complete = await raw_stream(endpoint)
        assert complete
        assert body.endswith(b"data: [DONE]\n\n")
        return time.monotonic() - begun

    for endpoint in (quick, slow):
        await seconds(endpoint)
    usual = min([await seconds(quick) for _ in range(3)])
    assert min([await seconds(slow) for _ in range(3)]) > 3 * usual
