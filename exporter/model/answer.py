"""A transcript read as a chat completion: which events carried tokens, how it ended, what the server said."""

import json
from dataclasses import dataclass

from exporter.model.delta import Channel, ServerError, Usage, read_delta, read_error
from exporter.model.sse import Event, split
from exporter.model.transcript import Transcript


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A token-bearing event; it arrived within [earliest_ns, at_ns] (monotonic nanoseconds)."""

    at_ns: int
    earliest_ns: int
    channels: frozenset[Channel]
    output_so_far: int | None = None
    """Output tokens up to and with this event, where the server sends usage on each chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, read but not judged."""

    is_stream: bool = False
    """Whether it is an event stream; a JSON body has no stamps of single tokens."""
    tokens: tuple[TokenEvent, ...] = ()
    """Of a JSON body: at most one, at the end of the message."""
    done: Event | None = None
    """The ``[DONE]`` event; nothing after it is read."""
    finish: str | None = None
    """The last ``finish_reason``."""
    usage: Usage | None = None
    """The last usage object that counts output tokens."""
    error: ServerError | None = None
    malformed: str = ""
    """Why it is not what an OpenAI-compatible server sends, for people; empty when it is."""


def read_answer(transcript: Transcript) -> Answer:
    """Read the body by its content type; a body without one is taken for what it looks like.

    Of a status other than 2xx only the error object is read.  Reading stops at the first ``[DONE]``, error
    or malformed event.
    """
    is_complete = transcript.fault is None
    if transcript.status is None or not 200 <= transcript.status < 300:
        return Answer(error=read_error(_json(transcript.content)))
    if (transcript.header("content-encoding") or "identity").strip().lower() != "identity":
        return Answer(malformed="the body is compressed, which was not asked for")
    content = transcript.content
    media = _media_type(transcript, content)
    if media == "text/event-stream":
        return _read_stream(split(transcript.body, is_complete=is_complete))
    if media == "application/json" or media.endswith("+json"):
        return _read_body(transcript, content)
    known = media if media in {"text/html", "text/plain", "application/x-ndjson"} else "of another type"
    return Answer(malformed=f"the body is {known}, not a chat completion")


def _media_type(transcript: Transcript, content: bytes) -> str:
    said = (transcript.header("content-type") or "").partition(";")[0].strip().lower()
    if said not in {"", "text/event-stream"}:
        return said
    # No line of an event stream begins like this, and servers do send a bare error under that type.
    looks_like = {b"<": "text/html", b"{": "application/json", b"[": "application/json"}
    return looks_like.get(content.lstrip()[:1], "text/event-stream")


def _read_stream(events: tuple[Event, ...]) -> Answer:
    tokens: list[TokenEvent] = []
    done, error, malformed = None, None, ""
    finish: str | None = None
    usage: Usage | None = None
    for number, event in enumerate(events, start=1):
        data = event.data.strip()
        if not data or data.startswith(b":"):
            continue  # a keep-alive in data's clothing, as in "data: : keepalive"
        if data.startswith(b"[DONE]"):
            done = event
            break
        chunk = _json(data)
        if (error := _stream_error(event, chunk)) is not None:
            break
        if not isinstance(chunk, dict):
            # Half an event at the end is a stream cut short, not bad JSON.
            malformed = f"event {number} of the stream is not a JSON object" if event.is_terminated else ""
            break
        delta = read_delta(chunk)
        if delta.channels:
            so_far = delta.usage.output if delta.usage else None
            tokens.append(TokenEvent(event.at_ns, event.earliest_ns, delta.channels, so_far))
        finish = delta.finish or finish
        if delta.usage is not None and delta.usage.output is not None:
            usage = delta.usage
    return Answer(
        is_stream=True,
        tokens=tuple(tokens),
        done=done,
        finish=finish,
        usage=usage,
        error=error,
        malformed=malformed,
    )


def _stream_error(event: Event, chunk: object) -> ServerError | None:
    error = read_error(chunk)
    if error is None and event.name == "error":
        return read_error({"error": chunk}) or ServerError()
    return error


def _read_body(transcript: Transcript, content: bytes) -> Answer:
    if transcript.complete_ns is None:
        return Answer()
    body = _json(content)
    if (error := read_error(body)) is not None:
        return Answer(error=error)
    if not isinstance(body, dict):
        return Answer(malformed="the body is not a JSON object")
    if not isinstance(body.get("choices"), list):
        return Answer(malformed="the JSON body has no list of choices")
    whole = read_delta(body)
    at_ns = transcript.complete_ns
    token = TokenEvent(at_ns, at_ns, whole.channels)
    return Answer(tokens=(token,) if whole.channels else (), finish=whole.finish, usage=whole.usage)


def _json(data: bytes) -> object:
    """Return the parsed value, or None for anything that is not JSON (or nested past all reason)."""
    try:
        parsed: object = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return parsed
