"""The chat kind: what it asks, which clocks it promises, and what it hands on."""

import threading

import pytest
from pydantic import ValidationError

from exporter.model.answer import Answer, Dialect, read_answer
from exporter.model.clocks import Clock, TokensFrom
from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault, StampSource, Transcript
from exporter.probes import generate
from exporter.probes.chat import Params, body_of, clocks_of, run
from tests.model.streams import DONE, answered, piece, stop, text, texts, usage_event
from tests.probes.specs import FakeApi, doors, spec, target

USER = {"role": "user", "content": "hi"}
BODIES = [
    (
        "the default streams and asks for usage",
        {"prompt": "hi"},
        {
            "model": "m",
            "messages": [USER],
            "max_tokens": 64,
            "stream": True,
            "temperature": 0.0,
            "stream_options": {"include_usage": True},
        },
    ),
    (
        "no stream",
        {"prompt": "hi", "stream": False, "max_tokens": 3},
        {"model": "m", "messages": [USER], "max_tokens": 3, "stream": False, "temperature": 0.0},
    ),
    (
        "the newer token field, no temperature",
        {"prompt": "hi", "stream": False, "token_field": "max_completion_tokens", "temperature": None},
        {"model": "m", "messages": [USER], "max_completion_tokens": 64, "stream": False},
    ),
    (
        "a system message comes first",
        {"prompt": "hi", "system": "be brief", "stream": False, "temperature": 1},
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, USER],
            "max_tokens": 64,
            "stream": False,
            "temperature": 1.0,
        },
    ),
    (
        "a whole conversation",
        {"messages": [USER, {"role": "assistant", "content": "hello"}, USER], "stream": False},
        {
            "model": "m",
            "messages": [USER, {"role": "assistant", "content": "hello"}, USER],
            "max_tokens": 64,
            "stream": False,
            "temperature": 0.0,
        },
    ),
    (
        "server-specific fields, usage on each chunk",
        {"prompt": "hi", "extra_body": {"top_k": 1, "stream_options": {"continuous_usage_stats": True}}},
        {
            "model": "m",
            "messages": [USER],
            "max_tokens": 64,
            "stream": True,
            "temperature": 0.0,
            "top_k": 1,
            "stream_options": {"continuous_usage_stats": True},
        },
    ),
    (
        "a server that knows no stream_options",
        {"prompt": "hi", "extra_body": {"stream_options": None}},
        {"model": "m", "messages": [USER], "max_tokens": 64, "stream": True, "temperature": 0.0},
    ),
]


@pytest.mark.parametrize(("_", "params", "body"), BODIES, ids=[row[0] for row in BODIES])
def test_the_body(_: str, params: dict, body: dict) -> None:
    assert body_of("m", Params.model_validate(params)) == body


BAD = [
    ("no tokens", {"max_tokens": 0}, "greater than or equal to 1"),
    ("too many tokens", {"max_tokens": 100_000}, "less than or equal to 4096"),
    ("an empty prompt", {"prompt": ""}, "at least 1 character"),
    ("no messages", {"messages": []}, "at least 1 item"),
    ("an unknown role", {"messages": [{"role": "boss", "content": "x"}]}, "developer"),
    ("two conversations", {"messages": [USER], "prompt": "x"}, "without prompt and system"),
    ("a second system", {"messages": [USER], "system": "x"}, "without prompt and system"),
    ("the bound by the back door", {"extra_body": {"max_completion_tokens": 9}}, "max_completion_tokens"),
    ("another model by the back door", {"extra_body": {"model": "x", "n": 8}}, "may not hold model, n"),
    ("an unknown token field", {"token_field": "tokens"}, "max_completion_tokens"),
    ("a wild temperature", {"temperature": 9}, "less than or equal to 2"),
]


@pytest.mark.parametrize(("_", "params", "says"), BAD, ids=[row[0] for row in BAD])
def test_bad_params_are_refused(_: str, params: dict, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Params.model_validate(params)


CLOCKS = [
    ("a stream has them all", Params(), set(Clock)),
    ("one token has no gap", Params(max_tokens=1), {Clock.TTFT, Clock.TTFC, Clock.E2E}),
    ("no stream: end to end", Params(stream=False), {Clock.E2E}),
]


@pytest.mark.parametrize(("_", "params", "clocks"), CLOCKS, ids=[row[0] for row in CLOCKS])
def test_clocks(_: str, params: Params, clocks: set[Clock]) -> None:
    assert clocks_of(params) == clocks


async def test_an_answer_becomes_a_result() -> None:
    came = answered(
        *texts(300, 20, 4),
        piece(380, stop(), usage_event(4), DONE),
        lateness_ns=(50_000, 60_000),
        stamps=StampSource.KERNEL,
        certificate_expiry_unix_s=2e9,
    )
    api = FakeApi(came)
    result = await run(target(), spec(), doors(api))
    assert api.bodies == [body_of("m", Params())]
    assert (result.outcome, result.detail, result.status) == (Outcome.OK, "", 200)
    assert result.timing.ttft is not None
    assert result.timing.ttft.value_s == pytest.approx(0.3)
    assert (result.tokens.input, result.tokens.output) == (9, 4)
    assert result.tokens.output_from is TokensFrom.USAGE
    assert result.phases is not None
    assert result.phases.total_s == pytest.approx(0.3801)
    assert result.reused is True
    assert result.stamps is StampSource.KERNEL
    assert result.lateness_s == (50e-6, 60e-6)
    assert result.certificate_expiry_unix_s == 2e9


async def test_without_a_key_nothing_was_sent_and_no_phase_is_claimed() -> None:
    came = answered(
        status=None,
        sent_ns=None,
        send_done_ns=None,
        peer=None,
        fault=Fault.NO_KEY,
        fault_detail="set the environment variable PROD_KEY",
    )
    result = await run(target(), spec(), doors(FakeApi(came)))
    assert result.outcome is Outcome.AUTH
    assert result.detail == "set the environment variable PROD_KEY"
    assert result.phases is None


async def test_the_stall_timeout_of_the_spec_names_the_class() -> None:
    came = answered(*texts(300, 20, 4), fault=Fault.DEADLINE, closed_ms=3000)
    api = FakeApi(came)
    outcomes = [
        (await run(target(), spec(stall_timeout_s=stall_s), doors(api))).outcome for stall_s in (1.0, 5.0)
    ]
    assert outcomes == [Outcome.TIMEOUT_STALL, Outcome.TIMEOUT_TOTAL]


@pytest.mark.parametrize(("tokens", "is_large"), [(3, False), (20_000, True)])
async def test_a_large_answer_is_read_away_from_the_loop(
    tokens: int, is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()

    def read(transcript: Transcript, dialect: Dialect) -> Answer:
        threads.add(threading.current_thread())
        return read_answer(transcript, dialect)

    monkeypatch.setattr(generate, "read_answer", read)
    api = FakeApi(answered(piece(1, *[text()] * tokens, stop(), DONE)))
    result = await run(target(), spec(params=Params()), doors(api))
    assert result.outcome is Outcome.OK
    assert result.tokens.output == tokens
    assert (threads != {threading.main_thread()}) is is_large
