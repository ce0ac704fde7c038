"""Which step comes next, and what each worker does of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from exporter.model.load_arrivals import share_of
from exporter.model.load_knee import Knee, KneeSearch
from exporter.model.load_plan import LoadPlan, Mode
from exporter.model.load_protocol import StepDone, StepOrder
from exporter.model.load_result import Pricing, Step


@dataclass(frozen=True, slots=True)
class Planned:
    """A step to run."""

    level: float
    repeat: int
    side: str


class Steps:
    """The steps of a plan, in order; a knee search decides by what it is told."""

    def __init__(self, plan: LoadPlan, sides: tuple[str, ...]) -> None:
        self._search: KneeSearch | None = None
        self.total: int | None = len(plan.levels) * plan.repeats * len(sides)
        self._fixed: Iterator[Planned] = iter(())
        if plan.find_knee:
            self.total = None
            low, high, whole = min(plan.levels), max(plan.levels), plan.mode is Mode.CLOSED
            self._search = KneeSearch(low, high, plan.knee_ratio, whole)
        else:
            # Sides inside levels inside repeats: what drifts, drifts for both.
            self._fixed = (
                Planned(level, repeat, side)
                for repeat in range(plan.repeats)
                for level in plan.levels
                for side in (sides if repeat % 2 == 0 else sides[::-1])
            )

    def next(self) -> Planned | None:
        """Return the next step; None when there is none."""
        if self._search is None:
            return next(self._fixed, None)
        level = self._search.next_level()
        return None if level is None else Planned(level, 0, "a")

    def note(self, step: Step) -> None:
        """Take what a step showed."""
        if self._search is not None:
            self._search.note(step.level, step.tally.good, step.tally.sent)

    @property
    def knee(self) -> Knee | None:
        """What the search found; None without one."""
        return None if self._search is None else self._search.result()


class Budget:
    """What is left of a run's bounds."""

    def __init__(self, plan: LoadPlan, pricing: Pricing, began_s: float) -> None:
        self._plan = plan
        self._began_s = began_s
        self.requests = plan.bounds.requests
        self.tokens = plan.bounds.tokens
        self._price = max(pricing.input_per_mtok or 0.0, pricing.output_per_mtok or 0.0)
        if plan.bounds.money is not None and self._price > 0:
            # Every token taken at the dearer of the two prices.
            self.tokens = min(self.tokens, int(plan.bounds.money / self._price * 1e6))

    def seconds(self, now_s: float) -> float:
        """Return the seconds that are left."""
        return self._plan.bounds.seconds - (now_s - self._began_s)

    def spend(self, done: list[StepDone]) -> None:
        """Take off what a step used."""
        for part in done:
            self.tokens -= part.tokens
            self.requests -= part.tally.sent + part.tally.settle_requests

    def why_over(self, now_s: float) -> str:
        """Return which bound is reached; empty while none is."""
        if self.requests <= 0:
            return f"the bound of {self._plan.bounds.requests} requests was reached"
        if self.tokens <= 0:
            return "the bound on tokens or money was reached"
        if self.seconds(now_s) <= 0:
            return f"the bound of {self._plan.bounds.seconds:g} s was reached"
        return ""


def orders_of(
    plan: LoadPlan, level: float, workers: int, budget: Budget, now_s: float
) -> tuple[StepOrder, ...]:
    """Return each worker's share of a step."""
    clients = int(level) if plan.mode is Mode.CLOSED else plan.bounds.concurrency
    active = min(workers, clients) if plan.mode is not Mode.TRACE else 1
    requests = min(plan.requests_per_step, budget.requests)
    active = max(1, min(active, requests))
    return tuple(
        StepOrder(
            mode=plan.mode,
            clients=share_of(clients, active, index),
            rate=level / active if plan.mode in {Mode.POISSON, Mode.CONSTANT} else None,
            requests=share_of(requests, active, index),
            seconds=min(plan.seconds_per_step + plan.settle_s, budget.seconds(now_s)),
            settle_s=plan.settle_s,
            tokens=share_of(budget.tokens, active, index),
            breaker=plan.breaker,
        )
        for index in range(active)
    )
