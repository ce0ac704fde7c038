"""What a piece of work found, on its way to the metrics."""

import hashlib
from dataclasses import dataclass

from exporter.model.clocks import Phases, Timing, Tokens
from exporter.model.outcome import Outcome
from exporter.model.rate_limits import RateLimits
from exporter.model.server_timing import ServerTiming
from exporter.model.target import Identity, ProbeSpec, Target
from exporter.model.transcript import StampSource


def fingerprint(text: str) -> int:
    """Return a number in [0, 2^48) for a text from outside, which must not become a label.

    A float holds it exactly.
    """
    return int.from_bytes(hashlib.sha256(text.encode(errors="replace")).digest()[:6], "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFacts:
    """What the connection was like; None where it is not known or there is no such thing."""

    peer: str | None = None
    """The address that was connected to, ``ip:port``; of the proxy where one was used."""
    family: str | None = None
    tls_version: str | None = None
    http_version: str | None = None
    """``1.1`` or ``1.0``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """One probe: the verdict, the clocks, and what the connection was like."""

    target: Target
    spec: ProbeSpec
    outcome: Outcome
    detail: str = ""
    """One line for people; never holds the key, the prompt or the answer."""
    status: int | None = None
    timing: Timing = Timing()
    phases: Phases | None = None
    tokens: Tokens = Tokens()
    reused: bool | None = None
    """None when no connection was had."""
    stamps: StampSource | None = None
    """None when nothing was received."""
    lateness_s: tuple[float, ...] = ()
    certificate_expiry_unix_s: float | None = None
    connection: ConnectionFacts = ConnectionFacts()
    rate_limits: RateLimits = RateLimits()
    server: ServerTiming = ServerTiming()
    answered_by: int | None = None
    """``fingerprint`` of the model that the server says it is; None when it says nothing."""
    finished_unix_s: float

    @property
    def identity(self) -> Identity:
        """The identity labels."""
        return Identity(self.target.name, self.target.model, self.spec.name)
