"""What one HTTP exchange put on the wire and when: bytes and stamps, not yet judged.

All times are nanoseconds of ``CLOCK_MONOTONIC`` (``time.monotonic_ns()``).  None means: never happened.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """What ended an exchange that did not end by itself, as the wire saw it."""

    NO_KEY = "no_key"
    """The configured API key could not be read; nothing was sent."""
    DNS = "dns"
    CONNECT = "connect"
    PROXY = "proxy"
    TLS = "tls"
    DEADLINE = "deadline"
    UNATTENDED = "unattended"
    """The deadline struck, but for more than a tenth of the time this program was not there to listen."""
    CLOSED = "closed"
    PROTOCOL = "protocol"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"


class StampSource(StrEnum):
    """Who took the receive stamps of an exchange."""

    KERNEL = "kernel"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Piece:
    """The response-body bytes that one read of the socket delivered, TLS and HTTP framing removed.

    ``at_ns`` is when the last segment of the read reached this host; no byte of the read can have arrived
    before ``earliest_ns``; ``read_ns`` is when our code took the bytes from the kernel.  The *last* event
    that a piece completes arrived at ``at_ns``; any earlier one somewhere in [earliest_ns, at_ns].
    """

    at_ns: int
    earliest_ns: int
    read_ns: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One request and everything that came back, however it ended.

    A reused connection has None for ``resolved_ns``, ``connected_ns`` and ``tls_done_ns``.
    """

    started_ns: int
    """The request was handed to the wire; name resolution begins here on a new connection."""
    resolved_ns: int | None = None
    connected_ns: int | None = None
    tls_done_ns: int | None = None
    sent_ns: int | None = None
    """Just before the first byte of the request was written."""
    sent_by_ns: int | None = None
    """Just after it; a process that lost the CPU in between has made up to 12 ms of difference."""
    send_done_ns: int | None = None
    headers_ns: int | None = None
    """Arrival of the read that completed the response headers."""
    complete_ns: int | None = None
    """Arrival of the read that completed the HTTP message; None if it never was complete."""
    closed_ns: int
    """The exchange was over for us: complete, given up, or broken."""

    status: int | None = None
    http_version: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Response headers, names in lower case, in order of arrival."""
    body: tuple[Piece, ...] = ()

    reused: bool = False
    peer: str | None = None
    """The address that was connected to, ``ip:port``; of the proxy where one was used."""
    family: str | None = None
    """``ipv4`` or ``ipv6``."""
    tls_version: str | None = None
    certificate_expiry_unix_s: float | None = None
    stamps: StampSource = StampSource.USER
    lateness_ns: tuple[int, ...] = field(default=(), repr=False)
    """For each read, how long its last segment had been waiting for us; empty without kernel stamps."""

    fault: Fault | None = None
    fault_detail: str = ""
    """One line for people; never holds the key, the prompt or the answer."""

    def header(self, name: str) -> str | None:
        """Return the first response header of that (lower-case) name, or None."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def content(self) -> bytes:
        """All body bytes that arrived."""
        return b"".join(piece.data for piece in self.body)
