"""The Responses API read as an answer: channels, end, usage."""

import json

import pytest

from exporter.model.answer import read_answer
from exporter.model.delta import Channel
from exporter.model.outcome import Outcome
from exporter.model.responses import RESPONSES
from exporter.model.timeline import timing_of, tokens_of
from exporter.model.verdict import judge
from tests.model.streams import answered, piece


def named(kind: str, **fields: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def completed(status: str = "completed", **more: object) -> str:
    usage = {
        "input_tokens": 9,
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 2},
        "input_tokens_details": {"cached_tokens": 8},
    }
    body = {"object": "response", "model": "x", "status": status, "output": [], "usage": usage} | more
    return named(f"response.{status}", response=body)


def test_a_stream_has_its_clocks_and_its_counts() -> None:
    came = answered(
        piece(10, named("response.created", response={})),
        piece(100, named("response.reasoning_text.delta", delta="hm")),
        piece(200, named("response.output_text.delta", delta="a")),
        piece(220, named("response.output_text.delta", delta="b")),
        piece(240, completed()),
    )
    answer = read_answer(came, RESPONSES)
    timing, tokens = timing_of(came, answer), tokens_of(answer)
    assert [event.channels for event in answer.tokens] == [
        {Channel.REASONING},
        {Channel.CONTENT},
        {Channel.CONTENT},
    ]
    assert timing.ttft is not None
    assert timing.ttfc is not None
    assert timing.e2e is not None
    assert (timing.ttft.value_s, timing.ttfc.value_s, timing.e2e.value_s) == pytest.approx((0.1, 0.2, 0.24))
    assert (tokens.input, tokens.output, tokens.reasoning, tokens.cached) == (9, 4, 2, 8)
    assert (answer.text, answer.finish, answer.model) == ("ab", "stop", "x")


TEXT = named("response.output_text.delta", delta="a")
ENDS = [
    ("completed", TEXT + completed(), Outcome.OK),
    ("cut short by its length", TEXT + completed("incomplete"), Outcome.OK),
    ("failed", TEXT + completed("failed"), Outcome.STREAM_ERROR),
    ("an error event", TEXT + named("error", code="server_error", message="no"), Outcome.STREAM_ERROR),
    ("no end", TEXT, Outcome.STREAM_TRUNCATED),
    ("no token", completed(), Outcome.EMPTY),
    ("a tool call", named("response.function_call_arguments.delta", delta="{") + completed(), Outcome.OK),
]


@pytest.mark.parametrize(("_", "stream", "outcome"), ENDS, ids=[row[0] for row in ENDS])
def test_how_it_ends(_: str, stream: str, outcome: Outcome) -> None:
    came = answered(piece(100, stream))
    verdict = judge(came, read_answer(came, RESPONSES), wants_stream=True, stall_timeout_s=1.0)
    assert verdict.outcome is outcome, verdict.detail


WHOLES = [
    (
        "a message",
        [{"type": "message", "content": [{"type": "output_text", "text": "hi"}]}],
        {Channel.CONTENT},
    ),
    ("a tool call", [{"type": "function_call", "name": "f"}], {Channel.TOOL}),
    (
        "a refusal",
        [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}],
        {Channel.REFUSAL},
    ),
]


@pytest.mark.parametrize(("_", "output", "channels"), WHOLES, ids=[row[0] for row in WHOLES])
def test_a_whole_response(_: str, output: list, channels: set[Channel]) -> None:
    body = json.dumps({"object": "response", "status": "completed", "output": output})
    answer = read_answer(answered(piece(50, body), content_type="application/json"), RESPONSES)
    assert [event.channels for event in answer.tokens] == [channels]
    assert answer.finish == "stop"
