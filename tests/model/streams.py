"""Chat streams on exact stamps, for tests of what is read out of them.  Times are ms after the request."""

import json

from exporter.model.transcript import Fault, Piece, Transcript

SENT_NS = 5_000_000_000
DONE = "data: [DONE]\n\n"
PING = ": ping\n\n"
DATA_PING = "data: : keepalive\n\n"


def ns(at_ms: float) -> int:
    return SENT_NS + round(at_ms * 1e6)


def piece(at_ms: float, *events: str | bytes, since_ms: float | None = None) -> Piece:
    """One read; ``since_ms`` is its earliest possible arrival (default: it was waited for)."""
    data = b"".join(event.encode() if isinstance(event, str) else event for event in events)
    earliest = at_ms if since_ms is None else since_ms
    return Piece(ns(at_ms), ns(earliest), ns(at_ms) + 50_000, data)


def event(**fields: object) -> str:
    return f"data: {json.dumps(fields)}\n\n"


def delta(finish: str | None = None, usage: dict[str, object] | None = None, **said: object) -> str:
    choice = {"index": 0, "delta": said, "finish_reason": finish}
    return event(object="chat.completion.chunk", choices=[choice], usage=usage)


def text(content: str = "a", finish: str | None = None) -> str:
    return delta(finish, content=content)


def role() -> str:
    return delta(role="assistant", content="")


def stop(reason: str = "stop") -> str:
    return delta(reason)


def counts(output: int, prompt: int = 9, reasoning: int | None = None, cached: int | None = None) -> dict:
    usage: dict[str, object] = {"prompt_tokens": prompt, "completion_tokens": output}
    if reasoning is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    return usage


def usage_event(output: int, **more: int) -> str:
    return event(choices=[], usage=counts(output, **more))


def tool_call(name: str | None = None, arguments: str = "") -> str:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return delta(tool_calls=[{"index": 0, "function": function}])


def texts(first_ms: float, step_ms: float, count: int, content: str = "a") -> list[Piece]:
    return [piece(first_ms + step_ms * i, text(content)) for i in range(count)]


def answered(
    *pieces: Piece,
    content_type: str | None = "text/event-stream",
    status: int | None = 200,
    complete: bool = True,
    fault: Fault | None = None,
    closed_ms: float | None = None,
    end_ms: float | None = None,
    **more: object,
) -> Transcript:
    """A transcript on a warm connection; complete with its last piece unless told otherwise."""
    last_ns = pieces[-1].at_ns if pieces else ns(1)
    end_ns = last_ns if end_ms is None else ns(end_ms)
    is_complete = complete and fault is None and status is not None
    fields: dict[str, object] = {
        "started_ns": SENT_NS - 100_000,
        "sent_ns": SENT_NS,
        "send_done_ns": SENT_NS + 20_000,
        "headers_ns": None if status is None else (pieces[0].at_ns if pieces else ns(1)),
        "complete_ns": end_ns if is_complete else None,
        "closed_ns": end_ns if closed_ms is None else ns(closed_ms),
        "status": status,
        "headers": () if content_type is None else (("content-type", content_type),),
        "body": pieces,
        "peer": "127.0.0.1:80",
        "reused": True,
        "fault": fault,
    }
    return Transcript(**(fields | more))
