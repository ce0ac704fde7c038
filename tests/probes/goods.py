"""A good answer for each kind of probe, as a script, and what else its probe needs."""

import json

from exporter.probes.completions import Params as CompletionsParams
from exporter.probes.responses import Params as ResponsesParams
from tests.fakes.scripted_server import Step, plain, streaming
from tests.model.streams import DONE, counts, event, role, stop, text, usage_event


def completion_text(content: str = "a", finish: str | None = None) -> str:
    return event(object="text_completion", choices=[{"index": 0, "text": content, "finish_reason": finish}])


def named(kind: str, **fields: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def response_delta(words: str = "a") -> str:
    return named("response.output_text.delta", delta=words, output_index=0)


RESPONSE_USAGE = {
    "input_tokens": 9,
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 1},
    "input_tokens_details": {"cached_tokens": 3},
}


def response(status: str = "completed", **more: object) -> dict[str, object]:
    said = {"type": "message", "content": [{"type": "output_text", "text": "aaaa"}]}
    return {"object": "response", "status": status, "output": [said], "usage": RESPONSE_USAGE} | more


COMPLETED = named("response.completed", response=response())
VECTOR = {"object": "embedding", "embedding": [0.1, 0.2, 0.3]}

STREAMS: dict[str, tuple[str, str]] = {
    "chat": (role() + text(), stop() + usage_event(4) + DONE),
    "completions": (
        completion_text(),
        completion_text("", "stop") + event(choices=[], usage=counts(4)) + DONE,
    ),
    "responses": (
        named("response.created", response={"status": "in_progress"}) + response_delta(),
        COMPLETED,
    ),
}
"""How a stream begins, with its first token, and how it ends."""

BODIES: dict[str, dict[str, object]] = {
    "embeddings": {"object": "list", "data": [VECTOR], "usage": {"prompt_tokens": 5, "total_tokens": 5}},
    "rerank": {
        "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}],
    },
    "transcription": {"text": "beep"},
    "models": {"object": "list", "data": [{"id": "m", "object": "model"}]},
    "http": {"ready": True},
}

WHOLES: dict[str, dict[str, object]] = BODIES | {
    "chat": {"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}]},
    "completions": {"choices": [{"index": 0, "text": "hi", "finish_reason": "stop"}]},
    "responses": response(),
}

UNSTREAMED = {
    "completions": {"params": CompletionsParams(stream=False)},
    "responses": {"params": ResponsesParams(stream=False)},
}


def good(kind: str) -> list[Step]:
    if kind in STREAMS:
        first, last = STREAMS[kind]
        return streaming((0.0, first), (0.0, last))
    return plain(json.dumps(BODIES[kind]))
