"""What the rest of the service hands to the web layer: plain callables."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from exporter.model.readiness import Verdict


@dataclass(frozen=True, slots=True)
class Exposition:
    """All metrics in the format that was asked for, and its full content type."""

    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Whether the new configuration was accepted; ``text`` says what changed, or every problem."""

    is_accepted: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Where the pages get their content from."""

    version: str
    render: Callable[[str], Exposition]
    """Given the request's Accept header.  Called on a thread of its own, one call at a time."""
    ready: Callable[[], Verdict]
    reload: Callable[[], Awaitable[Reloaded]]
    config: Callable[[], str]
    """The configuration in force, without secrets."""
