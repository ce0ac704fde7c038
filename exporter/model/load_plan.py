"""What a load run does, before it has done anything: levels, bounds, and what is held fixed."""

from dataclasses import dataclass, field
from enum import StrEnum

from exporter.model.clocks import Clock

MOST_CONCURRENCY = 4096
MOST_RATE = 20_000.0
MOST_SECONDS = 6 * 3600.0
MOST_REQUESTS = 5_000_000
MOST_TOKENS = 2_000_000_000
"""No configuration and no flag goes beyond these."""


class Api(StrEnum):
    """What is asked of the endpoint."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    EMBEDDINGS = "embeddings"

    @property
    def path(self) -> str:
        """The path below the base URL."""
        return {"chat": "/chat/completions"}.get(self.value, f"/{self.value}")


class Mode(StrEnum):
    """Who decides when a request is sent."""

    CLOSED = "closed"
    """A fixed number of clients; each sends when its last request has ended."""
    POISSON = "poisson"
    """Arrivals at random times with a fixed mean rate, whatever the server does."""
    CONSTANT = "constant"
    """Arrivals on a fixed beat, whatever the server does."""
    TRACE = "trace"
    """Arrivals at the times of a trace file."""

    @property
    def is_open(self) -> bool:
        """Tell whether arrivals do not wait for answers."""
        return self is not Mode.CLOSED


@dataclass(frozen=True, slots=True)
class Within:
    """A request is good only if this clock is at most ``threshold_s``."""

    clock: Clock
    threshold_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a run may never exceed, over all its steps."""

    requests: int = 10_000
    seconds: float = 600.0
    tokens: int = 2_000_000
    """Input and output; held before sending, every answer taken as long as it may get."""
    money: float | None = None
    """In the currency of the target's prices; None: no such bound."""
    concurrency: int = 256
    rate: float = 1000.0

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            value = getattr(self, name)
            if not 0 < value <= most:
                raise ValueError(f"{name} must be above 0 and at most {most:g}, not {value:g}")
        if self.money is not None and self.money <= 0:
            raise ValueError(f"money must be above 0, not {self.money:g}")

    def capped(self, cap: "Bounds") -> "Bounds":
        """Return the smaller of each bound."""
        money = [m for m in (self.money, cap.money) if m is not None]
        return Bounds(
            requests=min(self.requests, cap.requests),
            seconds=min(self.seconds, cap.seconds),
            tokens=min(self.tokens, cap.tokens),
            money=min(money) if money else None,
            concurrency=min(self.concurrency, cap.concurrency),
            rate=min(self.rate, cap.rate),
        )


_MOST: dict[str, float] = {
    "requests": MOST_REQUESTS,
    "seconds": MOST_SECONDS,
    "tokens": MOST_TOKENS,
    "concurrency": MOST_CONCURRENCY,
    "rate": MOST_RATE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """When a run stops hurting a target that is down."""

    error_ratio: float = 0.5
    """Of the last ``window`` requests."""
    window: int = 50
    consecutive: int = 20
    """Refusals (429, 5xx, no connection) in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One kind of request in a mix."""

    text: str = field(repr=False)
    max_tokens: int = 64
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """One line of a trace: when, and how long prompt and answer are in tokens."""

    at_s: float
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """One load run: the same requests at one level after another.

    A level is a number of clients in a closed loop and requests a second in an open one.
    """

    scenario: str
    api: Api = Api.CHAT
    stream: bool = True
    mode: Mode = Mode.CLOSED
    levels: tuple[float, ...] = (1.0,)
    repeats: int = 1
    """How often the whole series of levels is run."""
    requests_per_step: int = 100
    seconds_per_step: float = 60.0
    settle_s: float = 0.0
    """At the start of each step; what is sent in it is counted apart."""
    prompts: tuple[Prompt, ...] = (Prompt(text="Count from 1 to 40."),)
    temperature: float | None = 0.0
    trace: tuple[Arrival, ...] = ()
    timeout_s: float = 30.0
    good: tuple[Within, ...] = ()
    """What a good request keeps; a request that failed is never good."""
    find_knee: bool = False
    """Search between the levels' ends for the largest that keeps ``knee_ratio`` of the requests good."""
    knee_ratio: float = 0.95
    bounds: Bounds = Bounds()
    breaker: Breaker = Breaker()
    workers: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise ValueError(problem)


def _problems(plan: LoadPlan) -> list[str]:
    found = []
    if not plan.levels or min(plan.levels) <= 0:
        found.append("a load run needs at least one level, and levels above 0")
        return found
    highest, bounds = max(plan.levels), plan.bounds
    if plan.mode is Mode.CLOSED and (highest > bounds.concurrency or any(x % 1 for x in plan.levels)):
        found.append(f"concurrency must be whole and at most {bounds.concurrency}, not {highest:g}")
    if plan.mode in {Mode.POISSON, Mode.CONSTANT} and highest > bounds.rate:
        found.append(f"rate must be at most {bounds.rate:g} requests/s, not {highest:g}")
    if (plan.mode is Mode.TRACE) != bool(plan.trace):
        found.append("a trace goes with mode trace, and mode trace needs one")
    if plan.find_knee and (not plan.good or plan.mode is Mode.TRACE):
        found.append("the knee is the largest load that keeps an objective: give one, such as ttft=500ms")
    if not plan.prompts or any(p.weight <= 0 or p.max_tokens < 1 for p in plan.prompts):
        found.append("a mix needs prompts with a weight above 0 and at least one output token")
    return found
