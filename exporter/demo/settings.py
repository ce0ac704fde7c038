"""What the command line says about the endpoint; the names are those of the options."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRates:
    """How often each fault strikes, as a share of well-formed requests, and how hard."""

    fault_seed: int = 0
    error_rate: float = 0.0
    error_status: int = 500
    rate_limit_rate: float = 0.0
    stall_rate: float = 0.0
    stall_s: float = 60.0
    cut_rate: float = 0.0
    truncate_rate: float = 0.0
    slow_rate: float = 0.0
    slow_factor: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to serve.  ``port`` 0 means any free one; ``api_key`` None means that no key is asked for."""

    host: str = "127.0.0.1"
    port: int = 0
    api_key: str | None = field(default=None, repr=False)
    max_batch: int = 8
    """Requests worked on at once."""
    max_queue: int = 64
    """Requests that may wait besides."""
    grace: float = 5.0
    """How many seconds running requests may take to finish when the server is told to stop."""
    exit_with_parent: bool = False
    """Stop when standard input ends."""
    faults: FaultRates = FaultRates()
