"""What one JSON object of a chat completion says: tokens and their channel, finish, usage, error.

Written for what servers send, not only for what the API reference shows.  Anything of an unexpected type is
read as absent; nothing here raises.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from exporter.model.json_text import count, dicts
from exporter.model.server_timing import ServerTiming, timing_in


class Channel(StrEnum):
    """Where in a delta a token came."""

    CONTENT = "content"
    REASONING = "reasoning"
    TOOL = "tool"
    REFUSAL = "refusal"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The server's own token counts; None means that it did not say."""

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cached: int | None = None


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error object; its message is dropped because it may echo the prompt or the key."""

    code: str = ""
    """``code``, else ``type``, where it looks like an error code; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """One chunk of a stream, or one whole answer."""

    channels: frozenset[Channel] = frozenset()
    """Empty for role-only, empty, usage-only and finish-only chunks: they carry no token."""
    text: str = field(default="", repr=False)
    """What was said for the reader: neither reasoning nor tool calls."""
    finish: str | None = None
    usage: Usage | None = None
    is_last: bool = False
    """Whether this event ends the stream by itself; chat completions have ``[DONE]`` for that."""
    model: str | None = field(default=None, repr=False)
    """The model that the server says it is, with its fingerprint where it has one."""
    server: ServerTiming = ServerTiming()


def read_delta(chunk: dict[str, object]) -> Delta:
    """Read a chunk of a chat or legacy completion, or a whole one."""
    channels: set[Channel] = set()
    words: list[str] = []
    finish: str | None = None
    for choice in dicts(chunk.get("choices")):
        said = choice.get("delta") or choice.get("message")
        if isinstance(said, dict):
            for name, value in said.items():
                if value and (read := _FIELDS.get(name)) is not None:
                    channels.update(read(value))
            words.append(_words(said.get("content")))
        elif _text(text := choice.get("text")):
            channels.add(Channel.CONTENT)  # a completion has its text in the choice itself
            words.append(str(text))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            finish = reason
    return Delta(
        channels=frozenset(channels),
        text="".join(words),
        finish=finish,
        usage=read_usage(chunk.get("usage")),
        model=named_model(chunk),
        server=timing_in(chunk),
    )


def named_model(body: dict[str, object]) -> str | None:
    """Return what an answer says of the model behind it: name and fingerprint; None when nothing."""
    said = [body.get("model"), body.get("system_fingerprint")]
    return " ".join(str(name) for name in said if _text(name)) or None


def read_usage(usage: object) -> Usage | None:
    """Read a usage object of chat completions, embeddings or the Responses API."""
    if not isinstance(usage, dict):
        return None
    out = usage.get("completion_tokens_details", usage.get("output_tokens_details"))
    into = usage.get("prompt_tokens_details", usage.get("input_tokens_details"))
    return Usage(
        input=count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        output=count(usage.get("completion_tokens", usage.get("output_tokens"))),
        reasoning=count(out.get("reasoning_tokens")) if isinstance(out, dict) else None,
        cached=count(into.get("cached_tokens")) if isinstance(into, dict) else None,
    )


def read_error(body: object) -> ServerError | None:
    """Return the error that a JSON body or event carries, or None.

    Known forms: ``{"error": {...}}``, ``{"error": "text"}``, the same in a list of one (Gemini), and
    ``{"object": "error", ...}`` (older vLLM).  ``"error": null`` is none.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        return None
    error = body.get("error")
    if not error:
        return ServerError(_code(body)) if body.get("object") == "error" else None
    return ServerError(_code(error)) if isinstance(error, dict) else ServerError()


def _content(value: object) -> Iterator[Channel]:
    if _text(value):
        yield Channel.CONTENT
    for part in dicts(value):
        # Mistral streams a list of parts, thinking among them.
        if any(part.get(key) for key in ("text", "thinking", "reasoning")):
            is_thought = part.get("type") in ("thinking", "reasoning")
            yield Channel.REASONING if is_thought else Channel.CONTENT


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(str(part["text"]) for part in dicts(value) if _text(part.get("text")))


def _reasoning(value: object) -> Iterator[Channel]:
    if _text(value) or any(_has(detail, "text", "summary", "data") for detail in dicts(value)):
        yield Channel.REASONING


def _tool_calls(value: object) -> Iterator[Channel]:
    calls = (call.get(kind) for call in dicts(value) for kind in ("function", "custom"))
    if any(_has(call, "name", "arguments", "input") for call in calls):
        yield Channel.TOOL


def _function_call(value: object) -> Iterator[Channel]:
    if _has(value, "name", "arguments"):
        yield Channel.TOOL


def _refusal(value: object) -> Iterator[Channel]:
    if _text(value):
        yield Channel.REFUSAL


def _audio(value: object) -> Iterator[Channel]:
    if _has(value, "data", "transcript"):
        yield Channel.AUDIO


_FIELDS: dict[str, Callable[[object], Iterator[Channel]]] = {
    "content": _content,
    "reasoning": _reasoning,
    "reasoning_content": _reasoning,
    "reasoning_details": _reasoning,
    "tool_calls": _tool_calls,
    "function_call": _function_call,
    "refusal": _refusal,
    "audio": _audio,
}


_ERROR_CODE = re.compile(r"[A-Za-z_]{1,48}|[0-9]{1,6}")
"""Letters alone or digits alone: what error codes look like and API keys do not."""


def _code(error: dict[str, object]) -> str:
    for value in (error.get("code"), error.get("type")):
        text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
        if _ERROR_CODE.fullmatch(text):
            return text
    return ""


def _text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _has(value: object, *keys: str) -> bool:
    return isinstance(value, dict) and any(_text(value.get(key)) for key in keys)
