"""What a load run is asked for, and what it may use from outside."""

from collections.abc import Callable
from dataclasses import dataclass, field

from exporter.model.load_plan import LoadPlan
from exporter.model.load_protocol import Progress
from exporter.model.load_result import Pricing
from exporter.model.metering import Metering
from exporter.model.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOrder:
    """One run; ``other`` is the second target of an interleaved comparison."""

    plan: LoadPlan
    target: Target
    other: Target | None = None
    pricing: Pricing = Pricing()
    meter: Metering | None = None
    """Where the energy of a target with ``power`` is measured; None: nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A run under way, several times a second."""

    level: float
    step: int
    steps: int | None
    """None while it is not known how many there will be."""
    side: str
    elapsed_s: float
    """Of the run."""
    tokens_left: int
    seconds_left: float
    requests_left: int
    parts: tuple[Progress, ...] = field(default=())
    """The last word of each worker of the step."""

    @property
    def in_flight(self) -> int:
        """Requests in flight."""
        return sum(part.in_flight for part in self.parts)


Watch = Callable[[Live], None]


class LoadError(Exception):
    """The run could not be begun; the message says why and what to do."""
