import json

import pytest

from exporter.demo import fields, requests
from exporter.demo.errors import ApiError

MODEL = {"model": requests.MODEL_ID}
CHAT = MODEL | {"messages": [{"role": "user", "content": "hi"}]}
COMPLETION = MODEL | {"prompt": "hi"}
EMBED = MODEL | {"input": "hi"}


def refusal(check, body, **limits) -> tuple[int, str | None, str | None, str]:
    with pytest.raises(ApiError) as caught:
        check(body, context=100, **limits)
    error = caught.value.body["error"]
    return caught.value.status, error["param"], error["code"], error["message"]


@pytest.mark.parametrize(
    ("changes", "param", "says"),
    [
        pytest.param({"model": None}, "model", "Missing required parameter: 'model'", id="no model"),
        pytest.param({"model": 4}, "model", "expected a string, got a number", id="a number for the model"),
        pytest.param({"messages": None}, "messages", "at least one message", id="no messages"),
        pytest.param({"messages": []}, "messages", "at least one message", id="empty messages"),
        pytest.param(
            {"messages": ["hi"]}, "messages[0]", "an object with 'role'", id="a bare string as message"
        ),
        pytest.param(
            {"messages": [{"role": "bard", "content": ""}]},
            "messages[0].role",
            "one of assistant",
            id="an unknown role",
        ),
        pytest.param(
            {"messages": [{"role": "user"}]},
            "messages[0].content",
            "a string or a list of text",
            id="no content",
        ),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0].content",
            "text parts",
            id="an image",
        ),
        pytest.param({"n": 2}, "n", "'n' is not supported", id="several answers"),
        pytest.param({"tools": [{"type": "function"}]}, "tools", "not supported", id="tools"),
        pytest.param(
            {"response_format": {"type": "json_object"}}, "response_format", "not supported", id="JSON mode"
        ),
        pytest.param({"logprobs": True}, "logprobs", "not supported", id="logprobs"),
        pytest.param({"temperature": 2.1}, "temperature", "not between 0 and 2", id="too hot"),
        pytest.param({"temperature": float("nan")}, "temperature", "not between", id="a temperature of NaN"),
        pytest.param(
            {"temperature": 10**400}, "temperature", "not between", id="a temperature beyond floats"
        ),
        pytest.param(
            {"temperature": "1"},
            "temperature",
            "expected a number, got a string",
            id="a string as temperature",
        ),
        pytest.param({"top_p": -0.1}, "top_p", "not between 0 and 1", id="a negative top_p"),
        pytest.param({"max_tokens": 0}, "max_tokens", "below the minimum of 1", id="no tokens"),
        pytest.param(
            {"max_tokens": True}, "max_tokens", "expected an integer, got a boolean", id="true tokens"
        ),
        pytest.param({"max_tokens": 1.5}, "max_tokens", "expected an integer", id="half tokens"),
        pytest.param(
            {"max_tokens": 1, "max_completion_tokens": 1}, "max_tokens", "not both", id="both limits"
        ),
        pytest.param({"seed": "x"}, "seed", "expected an integer", id="a string as seed"),
        pytest.param({"stop": ""}, "stop", "non-empty", id="an empty stop string"),
        pytest.param({"stop": ["a", 1]}, "stop", "non-empty string or a list", id="a number as stop string"),
        pytest.param({"stop": list("abcde")}, "stop", "at most 4", id="five stop strings"),
        pytest.param({"stream": "yes"}, "stream", "expected a boolean", id="a string as flag"),
        pytest.param(
            {"stream_options": {"include_usage": True}},
            "stream_options",
            "only allowed when",
            id="stream options without a stream",
        ),
        pytest.param(
            {"stream": True, "stream_options": 1},
            "stream_options",
            "expected an object",
            id="a number as stream options",
        ),
    ],
)
def test_a_bad_chat_field_is_named(changes: dict, param: str, says: str) -> None:
    status, named, _, message = refusal(requests.chat, CHAT | changes)
    assert (status, named) == (400, param)
    assert says in message


@pytest.mark.parametrize(
    ("check", "body", "limits", "param"),
    [
        pytest.param(
            requests.completion, COMPLETION | {"prompt": ["a", "b"]}, {}, "prompt", id="two prompts"
        ),
        pytest.param(requests.completion, COMPLETION | {"prompt": ""}, {}, "prompt", id="an empty prompt"),
        pytest.param(requests.completion, COMPLETION | {"echo": True}, {}, "echo", id="echo"),
        pytest.param(
            requests.completion, COMPLETION | {"prompt": [999]}, {}, "prompt", id="a token that is none"
        ),
        pytest.param(requests.completion, COMPLETION | {"prompt": [True]}, {}, "prompt", id="true as token"),
        pytest.param(
            requests.embeddings, EMBED | {"input": []}, {"width": 8}, "input", id="nothing to embed"
        ),
        pytest.param(
            requests.embeddings, EMBED | {"input": ["a", ""]}, {"width": 8}, "input", id="an empty text"
        ),
        pytest.param(
            requests.embeddings, EMBED | {"input": ["a"] * 257}, {"width": 8}, "input", id="too many texts"
        ),
        pytest.param(
            requests.embeddings,
            EMBED | {"dimensions": 9},
            {"width": 8},
            "dimensions",
            id="too many dimensions",
        ),
        pytest.param(
            requests.embeddings, EMBED | {"encoding_format": "hex"}, {"width": 8}, "encoding_format", id="hex"
        ),
    ],
)
def test_a_bad_field_of_the_others_is_named(check, body: dict, limits: dict, param: str) -> None:
    assert refusal(check, body, **limits)[:2] == (400, param)


@pytest.mark.parametrize(
    ("check", "body", "limits", "says"),
    [
        # "hi" is six tokens as a chat: begin, user, two bytes, end, assistant.
        pytest.param(
            requests.chat,
            CHAT | {"max_tokens": 95},
            {},
            "101 tokens (6 in the messages, 95 in the completion)",
            id="chat",
        ),
        pytest.param(
            requests.completion,
            COMPLETION | {"prompt": "x" * 99},
            {},
            "116 tokens (100 in the prompt, 16",
            id="completion",
        ),
        pytest.param(
            requests.embeddings,
            EMBED | {"input": "x" * 100},
            {"width": 8},
            "an input has 101 tokens",
            id="embedding",
        ),
    ],
)
def test_too_many_tokens_are_refused_as_openai_does(check, body: dict, limits: dict, says: str) -> None:
    status, _, code, message = refusal(check, body, **limits)
    assert (status, code) == (400, "context_length_exceeded")
    assert "maximum context length is 100 tokens" in message
    assert says in message


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [
        pytest.param({}, 94, id="what the context has room for"),
        pytest.param({"max_tokens": 94}, 94, id="all of the context"),
        pytest.param({"max_tokens": 5}, 5, id="the old name"),
        pytest.param({"max_completion_tokens": 5, "max_tokens": None}, 5, id="the new name"),
    ],
)
def test_the_length_of_an_answer(changes: dict, tokens: int) -> None:
    assert requests.chat(CHAT | changes, context=100).max_tokens == tokens


def test_defaults_are_openais_and_neutral_values_of_unsupported_fields_pass() -> None:
    neutral = {
        "n": 1,
        "tools": [],
        "logprobs": False,
        "presence_penalty": 0.0,
        "response_format": {"type": "text"},
    }
    asked = requests.chat(CHAT | neutral | {"unheard_of": 1}, context=100)
    assert (asked.sampling.temperature, asked.sampling.top_p, asked.sampling.seed) == (1, 1, None)
    assert (asked.stream, asked.stops, asked.include_usage, asked.ignore_end) == (False, (), False, False)
    assert requests.completion(COMPLETION, context=100).max_tokens == 16


def test_text_parts_are_joined_and_tokens_are_taken_as_they_are() -> None:
    parts = [{"type": "text", "text": "h"}, {"type": "text", "text": "i"}]
    joined = requests.chat(MODEL | {"messages": [{"role": "user", "content": parts}]}, context=100)
    assert joined.prompt == requests.chat(CHAT, context=100).prompt
    assert requests.completion(MODEL | {"prompt": [1, 2]}, context=100).prompt == (1, 2)
    assert requests.embeddings(MODEL | {"input": [[1], [2, 3]]}, context=9, width=8).inputs == ((1,), (2, 3))


def test_another_model_is_not_found() -> None:
    assert refusal(requests.chat, CHAT | {"model": "gpt-4"})[:3] == (404, "model", "model_not_found")


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000, b"1" * 5000], ids=repr)
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        fields.parse(raw)
    assert caught.value.status == 400
    assert "JSON" in json.dumps(caught.value.body)
