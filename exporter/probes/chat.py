"""Probe kind ``chat``: one chat completion, streamed or not, with every clock that its stream can give."""

import base64
import struct
import zlib
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.model.answer import CHAT
from exporter.model.clocks import Clock
from exporter.model.request import Endpoint, Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import generate
from exporter.probes.base import Doors, ProbeKind, mine
from exporter.probes.generate import Generating

_OURS = frozenset({"model", "messages", "stream", "max_tokens", "max_completion_tokens", "temperature", "n"})
_PICTURE_SIDE = 32


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Field(min_length=1)]


class Params(Generating):
    """What is asked.

    ``stream_options`` in ``extra_body`` replaces ours: with ``continuous_usage_stats: true`` vLLM counts
    tokens on each chunk; null leaves it out.
    """

    messages: Annotated[tuple[Message, ...], Field(min_length=1)] | None = None
    """A whole conversation in place of ``prompt`` and ``system``."""
    system: Annotated[str, Field(min_length=1)] | None = None
    token_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The name under which the server takes ``max_tokens``."""
    tools: Annotated[tuple[dict[str, object], ...], Field(min_length=1)] | None = None
    tool_choice: str | dict[str, object] | None = None
    response_format: dict[str, object] | None = None
    image: bool = False
    """Add a small generated picture to the prompt, for models that see."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        alone = {"prompt", "prompts", "nonce", "input_tokens", "image"} & self.model_fields_set
        if self.messages is not None and (self.system is not None or alone):
            raise ValueError(
                "messages is the whole conversation: give it without prompt and system, "
                "and without prompts, nonce, input_tokens and image"
            )
        if self.tool_choice is not None and self.tools is None:
            raise ValueError("tool_choice needs tools")
        generate.refuse_taken(self, _OURS)
        return self


def body_of(model: str, params: Params, prompt: str | None = None) -> dict[str, object]:
    """Return the JSON body of the request; ``prompt`` None means the one in the parameters."""
    body: dict[str, object] = {
        "model": model,
        "messages": _messages(params, params.prompt if prompt is None else prompt),
        params.token_field: params.max_tokens,
        "stream": params.stream,
    }
    optional = {
        "temperature": params.temperature,
        "tools": None if params.tools is None else list(params.tools),
        "tool_choice": params.tool_choice,
        "response_format": params.response_format,
    }
    body |= {name: value for name, value in optional.items() if value is not None}
    if params.stream:
        body["stream_options"] = {"include_usage": True}
    body |= params.extra_body
    if body.get("stream_options", ...) is None:
        del body["stream_options"]
    return body


def _messages(params: Params, prompt: str) -> list[dict[str, object]]:
    if params.messages is not None:
        return [message.model_dump() for message in params.messages]
    content: object = prompt
    if params.image:
        url = f"data:image/png;base64,{base64.b64encode(_picture()).decode()}"
        content = [{"type": "text", "text": prompt}, {"type": "image_url", "image_url": {"url": url}}]
    system: list[dict[str, object]] = (
        [{"role": "system", "content": params.system}] if params.system is not None else []
    )
    return [*system, {"role": "user", "content": content}]


def _picture() -> bytes:
    """Return a red square as PNG."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * _PICTURE_SIDE) * _PICTURE_SIDE
    head = struct.pack(">IIBBBBB", _PICTURE_SIDE, _PICTURE_SIDE, 8, 2, 0, 0, 0)
    parts = part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: without a stream end to end alone, with a single token no gap."""
    return generate.clocks_of(mine(params, Params, "chat"))


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and judge what came back."""
    params = mine(spec.params, Params, "chat")
    body = body_of(target.model, params, generate.prompt_now(params, target, spec, doors))
    request = Request(endpoint=Endpoint.CHAT, body=body)
    return await generate.ask(target, spec, doors, params=params, request=request, dialect=CHAT)


KIND = ProbeKind(name="chat", params=Params, clocks=clocks_of, run=run)
