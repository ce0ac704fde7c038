"""Probe kind ``chat``: one chat completion, streamed or not, with every clock that its stream can give."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.model.answer import read_answer
from exporter.model.clocks import Clock
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.model.verdict import judge
from exporter.probes.base import Doors, ProbeKind, off_the_loop, result_of

_OURS = frozenset({"model", "messages", "stream", "max_tokens", "max_completion_tokens", "temperature", "n"})


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Field(min_length=1)]


class Params(BaseModel):
    """What is asked; the defaults are short enough to run every few seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: Annotated[str, Field(min_length=1)] = "Count from 1 to 40."
    messages: Annotated[tuple[Message, ...], Field(min_length=1)] | None = None
    """A whole conversation in place of ``prompt`` and ``system``."""
    system: Annotated[str, Field(min_length=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64
    token_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The name under which the server takes ``max_tokens``."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """None leaves it out, for models that refuse it."""
    stream: bool = True
    extra_body: dict[str, object] = Field(default_factory=dict)
    """Server-specific fields, sent as they are.  ``stream_options`` here replaces ours: with
    ``continuous_usage_stats: true`` vLLM counts tokens on each chunk; null leaves it out."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.messages is not None and (self.system is not None or "prompt" in self.model_fields_set):
            raise ValueError("messages is the whole conversation: give it without prompt and system")
        if taken := sorted(_OURS & self.extra_body.keys()):
            raise ValueError(f"extra_body may not hold {', '.join(taken)}: the probe sets it")
        return self


def body_of(model: str, params: Params) -> dict[str, object]:
    """Return the JSON body of the request."""
    messages = params.messages or (
        *((Message(role="system", content=params.system),) if params.system else ()),
        Message(role="user", content=params.prompt),
    )
    body: dict[str, object] = {
        "model": model,
        "messages": [message.model_dump() for message in messages],
        params.token_field: params.max_tokens,
        "stream": params.stream,
    }
    if params.temperature is not None:
        body["temperature"] = params.temperature
    if params.stream:
        body["stream_options"] = {"include_usage": True}
    body |= params.extra_body
    if body.get("stream_options", ...) is None:
        del body["stream_options"]
    return body


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: without a stream end to end alone, with a single token no gap."""
    if not isinstance(params, Params):
        raise TypeError(f"the chat probe takes its own Params, not {type(params).__name__}")
    if not params.stream:
        return frozenset({Clock.E2E})
    several = {Clock.ITL, Clock.TPOT} if params.max_tokens > 1 else set()
    return frozenset({Clock.TTFT, Clock.TTFC, Clock.E2E} | several)


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and judge what came back."""
    params = spec.params
    if not isinstance(params, Params):
        raise TypeError(f"the chat probe takes its own Params, not {type(params).__name__}")
    transcript = await doors.api.chat(target, spec, body_of(target.model, params))
    finished_unix_s = doors.unix_s()

    def read() -> ProbeResult:
        answer = read_answer(transcript)
        verdict = judge(transcript, answer, wants_stream=params.stream, stall_timeout_s=spec.stall_timeout_s)
        return result_of(target, spec, transcript, answer, verdict, finished_unix_s=finished_unix_s)

    return await off_the_loop(transcript, read)


KIND = ProbeKind(name="chat", params=Params, clocks=clocks_of, run=run)
