"""Each shape and fault puts the bytes on the wire that its name says."""

import json

import pytest

from benchmarks.truth import Fault

pytestmark = [pytest.mark.cc, pytest.mark.usefixtures("compiler")]

FAST = ("--ttft-ms", "2", "--itl-ms", "1", "--tokens", "4")
STREAM = {"stream": True, "stream_options": {"include_usage": True}}


def word(event: str) -> str:
    """Name one SSE event in a word."""
    data = event.removeprefix("data: ")
    if data.startswith(":"):
        return "comment"
    if data == "[DONE]":
        return "done"
    try:
        return chunk_word(json.loads(data))
    except ValueError:
        return "broken"


def chunk_word(chunk: dict[str, object]) -> str:
    if "error" in chunk:
        return "error"
    choices = chunk["choices"]
    if "usage" in chunk:
        return "usage+choice" if choices else "usage"
    return delta_word(choices[0]) if choices else "no-choices"


def delta_word(choice: dict[str, object]) -> str:
    delta = choice.get("delta", {"content": choice.get("text")})
    finish = f"+{choice['finish_reason']}" if choice["finish_reason"] else ""
    if "role" in delta:
        return "role"
    return (next(iter(delta)) if any(delta.values()) else "empty") + finish


def words(events: list[str]) -> str:
    return " ".join(word(event) for event in events)


SHAPES = [
    ("the plain stream", {}, "role content content content content+length usage done"),
    ("no role", {"role": "none"}, "content content content content+length usage done"),
    ("role at once", {"role": "early"}, "role content content content content+length usage done"),
    (
        "reasoning first",
        {"reasoning": 2},
        "role reasoning_content reasoning_content content content+length usage done",
    ),
    (
        "reasoning by its other name",
        {"reasoning": 4, "reasoning-field": "reasoning"},
        "role reasoning reasoning reasoning reasoning+length usage done",
    ),
    (
        "tool calls",
        {"tool-calls": 1},
        "role tool_calls tool_calls tool_calls tool_calls+tool_calls usage done",
    ),
    (
        "empty choices first",
        {"empty-choices": "first"},
        "no-choices role content content content content+length usage done",
    ),
    (
        "empty choices in the middle",
        {"empty-choices": "middle"},
        "role content content no-choices content content+length usage done",
    ),
    (
        "empty choices last",
        {"empty-choices": "last"},
        "role content content content content+length no-choices usage done",
    ),
    (
        "a choice beside the usage",
        {"usage-choices": 1, "tokens": 4},
        "role content content content content+length usage+choice done",
    ),
    (
        "empty content at once",
        {"empty-chunk": 1},
        "empty role content content content content+length usage done",
    ),
    ("four tokens a chunk", {"tokens-per-chunk": 4}, "role content+length usage done"),
    (
        "two events a write",
        {"events-per-write": 2},
        "role content content content content+length usage done",
    ),
    ("in one piece", {"one-piece": 1}, "role content content content content+length usage done"),
    ("split writes", {"split-ms": 1}, "role content content content content+length usage done"),
    (
        "comments with a colon",
        {"comment": "colon"},
        "comment role content comment content comment content comment content+length usage done",
    ),
    (
        "comments as data",
        {"comment": "data"},
        "comment role content comment content comment content comment content+length usage done",
    ),
    (
        "comments of OpenRouter",
        {"comment": "openrouter"},
        "comment role content comment content comment content comment content+length usage done",
    ),
    (
        "finish_reason apart",
        {"finish-apart": 1},
        "role content content content content empty+length usage done",
    ),
    ("finish_reason stop", {"finish": "stop"}, "role content content content content+stop usage done"),
    ("finish_reason error", {"finish": "error"}, "role content content content content+error usage done"),
    ("no finish_reason", {"finish": "none"}, "role content content content content usage done"),
    ("no [DONE]", {"no-done": 1}, "role content content content content+length usage"),
    ("CRLF", {"crlf": 1}, "role content content content content+length usage done"),
]

FAULTS = [
    ("cut", {}, "role content content", "closed", 0),
    ("cut", {"fault-at": 0}, "role", "closed", 0),
    ("reset", {}, "role content content", "reset", 0),
    ("stall", {"stall-ms": 20}, "role content content content content+length usage done", "complete", 200),
    ("trunc", {}, "role content content", "complete", 299),
    ("trunc", {"fault-at": 4}, "role content content content content+length", "complete", 299),
    ("stream-error", {}, "role content content error done", "complete", 200),
    ("stream-error", {"fault-at": 0, "no-done": 1}, "role error", "complete", 200),
    ("bad-json", {}, "role content content broken content content+length usage done", "complete", 200),
    ("empty", {}, "role empty+stop usage done", "complete", 200),
]


@pytest.mark.parametrize(("shape", "expected"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_a_shape_has_the_events_that_its_name_says(start, connect, shape, expected):
    server = start(*FAST)
    reply = connect(server).ask(server.with_shape(**shape) + "/chat/completions", STREAM)
    assert (words(reply.events), reply.ended, reply.status) == (expected, "complete", 200)
    assert ("\r\n\r\n" in reply.body.decode()) == ("crlf" in shape)


@pytest.mark.parametrize(
    ("fault", "more", "expected", "ended", "logged"),
    FAULTS,
    ids=[f"{f[0]} {f[1] or ''}".strip() for f in FAULTS],
)
def test_a_fault_in_a_stream_ends_it_as_its_name_says(
    start, connect, *, fault, more, expected, ended, logged
):
    server = start(*FAST)
    reply = connect(server).ask(server.with_shape(fault=fault, **more) + "/chat/completions", STREAM)
    assert (words(reply.events), reply.ended) == (expected, ended)
    server.stop()
    (true,) = server.log()
    assert (true.status, true.fault) == (logged, Fault[fault.upper().replace("-", "_")])


@pytest.mark.parametrize(
    ("shape", "status", "content_type", "start_of_body"),
    [
        ({"fault": "err"}, 500, "application/json", b'{"error":'),
        ({"fault": "err", "err-status": 429}, 429, "application/json", b'{"error":'),
        ({"fault": "err", "err-status": 302}, 302, "application/json", b'{"error":'),
        ({"fault": "error-200"}, 200, "application/json", b'{"error":'),
        ({"fault": "html"}, 200, "text/html", b"<!DOCTYPE html>"),
    ],
    ids=["error 500", "rate limited", "redirect", "error with status 200", "web page with status 200"],
)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_fault_in_place_of_the_answer(
    start, connect, *, shape, status, content_type, start_of_body, stream
):
    server = start(*FAST)
    reply = connect(server).ask(server.with_shape(**shape) + "/chat/completions", {"stream": stream})
    assert reply.status == status
    assert content_type in reply.head
    assert reply.body.startswith(start_of_body)
    assert ("Retry-After" in reply.head) == (status == 429)
    assert ("Location" in reply.head) == (status == 302)


def test_a_drip_goes_on_until_the_client_leaves(start, connect):
    server = start(*FAST)
    client = connect(server)
    reply = client.ask(
        server.with_shape(fault="drip", itl_ms=20) + "/chat/completions", STREAM, patience=0.01
    )
    assert reply.ended == "open"
    client.__exit__()
    with_more = connect(server)
    with_more.send(
        b'POST /with/fault=drip/v1/chat/completions HTTP/1.1\r\nContent-Length: 15\r\n\r\n{"stream":true}'
    )
    dripped = b""
    while dripped.count(b"1\r\nx\r\n") < 20:
        dripped += with_more._socket.recv(100)
    with_more.__exit__()
    connect(server).ask(server.base_url + "/chat/completions", STREAM)
    server.stop()
    assert sorted(true.status for true in server.log()) == [-1, -1, 200]


def test_answers_that_are_not_streamed(start, connect):
    server = start(*FAST)
    client = connect(server)
    chat = json.loads(client.ask(server.base_url + "/chat/completions", {"max_tokens": 3}).body)
    assert chat["choices"][0]["message"]["content"] == " w0 w1 w2"
    assert chat["usage"] == {"prompt_tokens": 16, "completion_tokens": 3, "total_tokens": 19}
    text = json.loads(client.ask(server.base_url + "/completions", {}).body)
    assert text["choices"][0]["text"] == " w0 w1 w2 w3"
    vectors = json.loads(client.ask(server.base_url + "/embeddings", {"input": ["a", 'b]"', "c"]}).body)
    assert [vector["index"] for vector in vectors["data"]] == [0, 1, 2]
    assert len(vectors["data"][0]["embedding"]) == 8
    cut = client.ask(server.with_shape(fault="bad-json") + "/chat/completions", {})
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(cut.body)


def test_completions_stream_too(start, connect):
    server = start(*FAST)
    reply = connect(server).ask(server.base_url + "/completions", STREAM)
    assert words(reply.events) == "content content content content+length usage done"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/with/nonsense=1/v1", 400),
        ("/with/ttft-ms=soon/v1", 400),
        ("/with/role/v1", 400),
        ("/elsewhere", 404),
    ],
    ids=["unknown setting", "not a number", "no value", "unknown path"],
)
def test_what_cannot_be_asked_for_is_refused(start, connect, path, status):
    server = start(*FAST)
    suffix = "" if status == 404 else "/chat/completions"
    assert connect(server).ask(server.origin + path + suffix, STREAM).status == status


def test_a_shape_holds_for_its_own_request_only(start, connect):
    server = start(*FAST)
    client = connect(server)
    assert len(client.ask(server.with_shape(tokens=1) + "/chat/completions", STREAM).events) == 4
    assert len(client.ask(server.base_url + "/chat/completions", STREAM).events) == 7


def test_an_event_of_a_megabyte_arrives_whole(start, connect):
    server = start(*FAST)
    reply = connect(server).ask(
        server.with_shape(pad=1_000_000, close=1) + "/chat/completions", {"stream": True}
    )
    assert reply.ended == "complete"
    assert [len(event) > 1_000_000 for event in reply.events] == [False, True, True, True, True, False]
