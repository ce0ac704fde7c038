"""What a piece of work found, on its way to the metrics."""

from dataclasses import dataclass

from exporter.model.clocks import Phases, Timing, Tokens
from exporter.model.outcome import Outcome
from exporter.model.target import Identity, ProbeSpec, Target
from exporter.model.transcript import StampSource


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
    finished_unix_s: float

    @property
    def identity(self) -> Identity:
        """The identity labels."""
        return Identity(self.target.name, self.target.model, self.spec.name)
