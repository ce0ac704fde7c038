"""What one client, and all of them together, may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of the web server."""

    connections: int = 64
    """Further ones are closed at once: file descriptors belong to the probes."""
    scrapes: int = 4
    """Waiting, being rendered, or being sent; further ones get status 503."""
    idle_s: float = 75.0
    """For a connection without a complete request, new or kept alive; more than a minute between scrapes."""
    send_s: float = 30.0
    """For a client to take a scrape."""
    linger_s: float = 1.0
    """For the rest of a request body, which no page reads."""
