"""What a probe asks of a server, before any SDK or socket has seen it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Endpoint(StrEnum):
    """The endpoints of OpenAI-compatible servers that a probe can ask."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    EMBEDDINGS = "embeddings"
    MODELS = "models"
    RERANK = "rerank"
    TRANSCRIPTION = "transcription"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that goes along with a request."""

    name: str
    content_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to a known endpoint; the SDK builds it.  ``body`` holds JSON values."""

    endpoint: Endpoint
    body: Mapping[str, object] = field(default_factory=dict, repr=False)
    upload: Upload | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRequest:
    """One HTTP request to any other API, sent as it stands; ``path`` is added to the target's base URL."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    content: bytes = field(default=b"", repr=False)
