"""Whatever JSON a server sends, reading it raises nothing and invents nothing."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.answer import read_answer
from exporter.model.delta import Channel, Usage, read_delta, read_error
from exporter.model.json_text import MOST_TOKENS
from exporter.model.timeline import phases_of, timing_of, tokens_of
from exporter.model.verdict import judge
from tests.model.streams import DONE, answered, piece

NAMES = st.sampled_from(
    [
        *("choices", "delta", "message", "finish_reason", "usage", "error", "code", "type", "object"),
        *("content", "text", "thinking", "reasoning", "reasoning_content", "reasoning_details", "summary"),
        *("tool_calls", "function_call", "function", "custom", "name", "arguments", "input"),
        *("refusal", "audio", "data", "transcript"),
        *("prompt_tokens", "completion_tokens", "completion_tokens_details", "prompt_tokens_details"),
        *("reasoning_tokens", "cached_tokens"),
    ]
)
WORDS = st.sampled_from(["", "a", "error", "abort", "thinking", "stop"])
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | WORDS
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)
DELTAS = st.dictionaries(NAMES, ANYTHING, max_size=5)
CHUNKS = st.fixed_dictionaries(
    {"choices": st.lists(st.fixed_dictionaries({"delta": DELTAS, "finish_reason": ANYTHING}), max_size=2)},
    optional={"usage": DELTAS, "error": ANYTHING},
)


@pytest.mark.parametrize("kind", [[], {}, None, 1])
def test_a_content_part_of_no_known_type_is_content(kind: object) -> None:
    said = {"content": [{"type": kind, "text": "a"}]}
    assert read_delta({"choices": [{"delta": said}]}).channels == {Channel.CONTENT}


@pytest.mark.parametrize(
    "count", [-5, MOST_TOKENS + 1, 10**400, 1e308, math.nan, math.inf, 7.0, "7", True, [7]]
)
def test_a_count_that_no_request_has_is_none(count: object) -> None:
    usage = {"completion_tokens": count, "prompt_tokens": MOST_TOKENS}
    assert read_delta({"usage": usage}).usage == Usage(input=MOST_TOKENS)


@given(CHUNKS | DELTAS)
def test_reading_never_raises(chunk: dict[str, object]) -> None:
    delta = read_delta(chunk)
    counts = delta.usage
    if counts is not None:
        values = (counts.input, counts.output, counts.reasoning, counts.cached)
        assert all(value is None or value >= 0 for value in values)
    read_error(chunk)


@given(
    st.lists(CHUNKS | ANYTHING, max_size=4), st.booleans(), st.sampled_from(["text/event-stream", "", None])
)
def test_any_stream_of_json_can_be_judged(chunks: list, wants_stream: bool, content_type: str | None) -> None:
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    came = answered(*(piece(i, one) for i, one in enumerate([*events, DONE])), content_type=content_type)
    answer = read_answer(came)
    timing_of(came, answer)
    tokens_of(answer)
    phases_of(came)
    judge(came, answer, wants_stream=wants_stream, stall_timeout_s=1)


@given(ANYTHING, st.sampled_from([200, 404, 500]))
def test_any_json_body_can_be_judged(body: object, status: int) -> None:
    came = answered(piece(5, json.dumps(body)), content_type="application/json", status=status)
    answer = read_answer(came)
    timing_of(came, answer)
    judge(came, answer, wants_stream=False, stall_timeout_s=1)


@given(st.binary(max_size=60), st.sampled_from(["text/event-stream", "application/json", "text/html", None]))
def test_any_bytes_can_be_judged(body: bytes, content_type: str | None) -> None:
    came = answered(piece(5, body), content_type=content_type)
    judge(came, read_answer(came), wants_stream=True, stall_timeout_s=1)
