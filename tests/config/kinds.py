"""Stand-ins for the probe kinds, so that these tests hold the configuration and nothing above it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from exporter.model.clocks import Clock


class ChatParams(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    prompt: str = "Count to ten."
    max_tokens: int = Field(default=32, ge=1)
    temperature: float = Field(default=0.0, ge=0, le=2)
    stream: bool = True
    effort: Literal["low", "high"] | None = None
    stop: str | list[str] = Field(default_factory=list)


class EmbeddingsParams(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    input: str


@dataclass(frozen=True)
class StubKind:
    name: str
    params: type[BaseModel]
    clocks: Callable[[BaseModel], frozenset[Clock]]


def chat_clocks(params: BaseModel) -> frozenset[Clock]:
    assert isinstance(params, ChatParams)
    return frozenset(Clock) if params.stream else frozenset({Clock.E2E})


KINDS = {
    "chat": StubKind("chat", ChatParams, chat_clocks),
    "embeddings": StubKind("embeddings", EmbeddingsParams, lambda _: frozenset({Clock.E2E})),
}

SUITES = ("light", "once")
