"""What one JSON object of a chat completion says: tokens and their channel, finish, usage, error.

Written for what servers send, not only for what the API reference shows.  Anything of an unexpected type is
read as absent; nothing here raises.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum


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
    finish: str | None = None
    usage: Usage | None = None


def read_delta(chunk: dict[str, object]) -> Delta:
    """Read a ``chat.completion.chunk`` or ``chat.completion`` object."""
    channels: set[Channel] = set()
    finish: str | None = None
    for choice in _dicts(chunk.get("choices")):
        said = choice.get("delta") or choice.get("message")
        if isinstance(said, dict):
            for name, value in said.items():
                if value and (read := _FIELDS.get(name)) is not None:
                    channels.update(read(value))
        elif _text(choice.get("text")):
            channels.add(Channel.CONTENT)  # a completion has its text in the choice itself
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            finish = reason
    return Delta(channels=frozenset(channels), finish=finish, usage=_usage(chunk.get("usage")))


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
    for part in _dicts(value):
        # Mistral streams a list of parts, thinking among them.
        if any(part.get(key) for key in ("text", "thinking", "reasoning")):
            is_thought = part.get("type") in ("thinking", "reasoning")
            yield Channel.REASONING if is_thought else Channel.CONTENT


def _reasoning(value: object) -> Iterator[Channel]:
    if _text(value) or any(_has(detail, "text", "summary", "data") for detail in _dicts(value)):
        yield Channel.REASONING


def _tool_calls(value: object) -> Iterator[Channel]:
    calls = (call.get(kind) for call in _dicts(value) for kind in ("function", "custom"))
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


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    out = usage.get("completion_tokens_details")
    into = usage.get("prompt_tokens_details")
    return Usage(
        input=_count(usage.get("prompt_tokens")),
        output=_count(usage.get("completion_tokens")),
        reasoning=_count(out.get("reasoning_tokens")) if isinstance(out, dict) else None,
        cached=_count(into.get("cached_tokens")) if isinstance(into, dict) else None,
    )


_ERROR_CODE = re.compile(r"[A-Za-z_]{1,48}|[0-9]{1,6}")
"""Letters alone or digits alone: what error codes look like and API keys do not."""


def _code(error: dict[str, object]) -> str:
    for value in (error.get("code"), error.get("type")):
        text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
        if _ERROR_CODE.fullmatch(text):
            return text
    return ""


def _dicts(value: object) -> list[dict[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _has(value: object, *keys: str) -> bool:
    return isinstance(value, dict) and any(_text(value.get(key)) for key in keys)


MOST_TOKENS = 1_000_000_000
"""No request has more.  A counter never forgets, so one absurd number would spoil it for ever."""


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None
