"""A transcript read as generated text: which events carried tokens, how it ended, what the server said."""

from collections.abc import Callable
from dataclasses import dataclass, field

from exporter.model.delta import Channel, Delta, ServerError, Usage, read_delta, read_error
from exporter.model.json_text import parsed
from exporter.model.server_timing import ServerTiming
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
    """The event that ends the stream, ``[DONE]`` or the API's own; nothing after it is read."""
    finish: str | None = None
    """The last ``finish_reason``."""
    usage: Usage | None = None
    """The last usage object that counts output tokens."""
    error: ServerError | None = None
    malformed: str = ""
    """Why it is not what an OpenAI-compatible server sends, for people; empty when it is."""
    text: str = field(default="", repr=False)
    """What was said for the reader; never logged or exported."""
    model: str | None = field(default=None, repr=False)
    """What the server first said of the model behind it."""
    server: ServerTiming = ServerTiming()


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API's way to send generated text."""

    name: str
    read: Callable[[dict[str, object]], Delta]
    body_list: str
    """The list that a whole answer must have."""


CHAT = Dialect("chat completion", read_delta, "choices")
COMPLETION = Dialect("completion", read_delta, "choices")


def read_answer(transcript: Transcript, dialect: Dialect = CHAT) -> Answer:
    """Read the body by its content type; a body without one is taken for what it looks like.

    Of a status other than 2xx only the error object is read.  Reading stops at the first ``[DONE]``, error
    or malformed event.
    """
    if (early := refused(transcript)) is not None:
        return early
    content = transcript.content
    media = media_type(transcript, content)
    if media == "text/event-stream":
        return _read_stream(split(transcript.body, is_complete=transcript.fault is None), dialect)
    if is_json(media):
        return _read_body(transcript, content, dialect)
    return Answer(malformed=f"the body is {describe(media)}, not a {dialect.name}")


def refused(transcript: Transcript) -> Answer | None:
    """Return what an answer without the body that was asked for comes to; None when the body can be read."""
    if transcript.status is None or not 200 <= transcript.status < 300:
        return Answer(error=read_error(parsed(transcript.content)))
    if (transcript.header("content-encoding") or "identity").strip().lower() != "identity":
        return Answer(malformed="the body is compressed, which was not asked for")
    return None


def is_json(media: str) -> bool:
    """Tell whether a media type is JSON."""
    return media == "application/json" or media.endswith("+json")


def describe(media: str) -> str:
    """Return a media type for people: a server's own words are not repeated."""
    known = media in {"text/html", "text/plain", "text/event-stream", "application/x-ndjson"}
    return media if known else "of another type"


def media_type(transcript: Transcript, content: bytes) -> str:
    """Return the media type in lower case; without one (or with a stream's) by what the body looks like."""
    said = (transcript.header("content-type") or "").partition(";")[0].strip().lower()
    if said not in {"", "text/event-stream"}:
        return said
    # No line of an event stream begins like this, and servers do send a bare error under that type.
    looks_like = {b"<": "text/html", b"{": "application/json", b"[": "application/json"}
    return looks_like.get(content.lstrip()[:1], "text/event-stream")


def _read_stream(events: tuple[Event, ...], dialect: Dialect) -> Answer:
    tokens: list[TokenEvent] = []
    done, error, malformed = None, None, ""
    deltas: list[Delta] = []
    for number, event in enumerate(events, start=1):
        data = event.data.strip()
        if not data or data.startswith(b":"):
            continue  # a keep-alive in data's clothing, as in "data: : keepalive"
        if data.startswith(b"[DONE]"):
            done = event
            break
        chunk = parsed(data)
        if (error := _stream_error(event, chunk)) is not None:
            break
        if not isinstance(chunk, dict):
            # Half an event at the end is a stream cut short, not bad JSON.
            malformed = f"event {number} of the stream is not a JSON object" if event.is_terminated else ""
            break
        delta = dialect.read(chunk)
        deltas.append(delta)
        if delta.channels:
            so_far = delta.usage.output if delta.usage else None
            tokens.append(TokenEvent(event.at_ns, event.earliest_ns, delta.channels, so_far))
        if delta.is_last:
            done = event
            break
    usages = (d.usage for d in reversed(deltas) if d.usage is not None and d.usage.output is not None)
    return Answer(
        is_stream=True,
        tokens=tuple(tokens),
        done=done,
        finish=next((d.finish for d in reversed(deltas) if d.finish), None),
        usage=next(usages, None),
        error=error,
        malformed=malformed,
        text="".join(d.text for d in deltas),
        model=next((d.model for d in deltas if d.model), None),
        server=ServerTiming.merged(d.server for d in deltas),
    )


def _stream_error(event: Event, chunk: object) -> ServerError | None:
    error = read_error(chunk)
    if error is None and event.name == "error":
        return read_error({"error": chunk}) or ServerError()
    return error


def _read_body(transcript: Transcript, content: bytes, dialect: Dialect) -> Answer:
    if transcript.complete_ns is None:
        return Answer()
    body = parsed(content)
    if (error := read_error(body)) is not None:
        return Answer(error=error)
    if not isinstance(body, dict):
        return Answer(malformed="the body is not a JSON object")
    if not isinstance(body.get(dialect.body_list), list):
        return Answer(malformed=f"the JSON body has no list of {dialect.body_list}")
    whole = dialect.read(body)
    at_ns = transcript.complete_ns
    token = TokenEvent(at_ns, at_ns, whole.channels)
    return Answer(
        tokens=(token,) if whole.channels else (),
        finish=whole.finish,
        usage=whole.usage,
        text=whole.text,
        model=whole.model,
        server=whole.server,
    )
