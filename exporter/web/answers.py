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
class ProbeQuery:
    """What ``/probe`` was asked for; ``probe`` None means the target's first one."""

    target: str
    probe: str | None
    scrape_timeout_s: float | None
    """What Prometheus says it will wait; None when it says nothing."""
    accept: str
    debug: bool


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What ``/probe`` answers; a probe that failed is an answer like any other, with status 200."""

    status: int
    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A result that is kept; ``total_s`` None means that nothing was sent."""

    id: int
    target: str
    probe: str
    outcome: str
    total_s: float | None
    finished_unix_s: float


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
    probe: Callable[[ProbeQuery], Awaitable[ProbeAnswer]]
    """Run a configured probe now."""
    history: Callable[[], tuple[Past, ...]]
    """The results that are kept, the newest first."""
    past: Callable[[int], str | None]
    """The report of one of them, or None where it is not kept any more."""
