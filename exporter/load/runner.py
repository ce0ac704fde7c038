"""One load run from its order to its result."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from exporter.adapters.api_key import KeyUnavailable, read_key
from exporter.load.alone import alone
from exporter.load.crew import Crew, Start, start_worker
from exporter.load.fingerprint import fingerprint
from exporter.load.order import Live, LoadError, LoadOrder, Watch
from exporter.load.steps import Budget, Planned, Steps, orders_of
from exporter.model.load_plan import Mode
from exporter.model.load_protocol import Progress, Setup, StepDone
from exporter.model.load_result import LoadRun, Served, Step, joined
from exporter.model.target import Target

SIDES = ("a", "b")


def _ignore(live: Live) -> None:
    del live


class LoadRunner:
    """Runs load orders, one at a time for each call of ``run``."""

    def __init__(
        self,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
        unix_s: Callable[[], float] = time.time,
        start: Start = start_worker,
    ) -> None:
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._start = start

    async def run(
        self, order: LoadOrder, *, stop: asyncio.Event | None = None, watch: Watch = _ignore
    ) -> LoadRun:
        """Run to the end, to a bound, or until ``stop`` is set; what was measured is kept in every case.

        Cancelling leaves no process behind.  Raises LoadError when the run cannot be begun.
        """
        stop = stop or asyncio.Event()
        began_unix_s, load_before = self._unix_s(), os.getloadavg()[0]
        targets = dict(zip(SIDES, [order.target, *([order.other] if order.other else [])], strict=False))
        steps = Steps(order.plan, tuple(targets))
        budget = Budget(order.plan, order.pricing, self._monotonic_s())
        done: list[Step] = []
        async with AsyncExitStack() as stack:
            stack.enter_context(alone(target.base_url for target in targets.values()))
            size = 1 if order.plan.mode is Mode.TRACE else order.plan.workers
            crews = {
                side: await stack.enter_async_context(Crew(setup_of(order, target), size, self._start))
                for side, target in targets.items()
            }
            stopped = ""
            while not stopped and (planned := steps.next()) is not None:
                stopped = "stopped by hand" if stop.is_set() else budget.why_over(self._monotonic_s())
                if stopped:
                    break
                run = _StepOfRun(order, crews[planned.side], budget, self._monotonic_s, self._unix_s)
                view = _view(planned, len(done), steps.total, budget, self._monotonic_s)
                step = await run.run(planned, stop, lambda parts, view=view: watch(view(parts)))  # type: ignore[misc]
                done.append(step)
                steps.note(step)
                stopped = run.broken
        return LoadRun(
            plan=order.plan,
            served=_served(order.target),
            served_b=_served(order.other) if order.other else None,
            pricing=order.pricing,
            fingerprint=fingerprint(load_before),
            started_unix_s=began_unix_s,
            steps=tuple(done),
            knee=steps.knee,
            stopped="stopped by hand" if stop.is_set() else stopped,
        )


class _StepOfRun:
    """One step with its crew."""

    def __init__(
        self,
        order: LoadOrder,
        crew: Crew,
        budget: Budget,
        monotonic_s: Callable[[], float],
        unix_s: Callable[[], float],
    ) -> None:
        self._order = order
        self._crew = crew
        self._budget = budget
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self.broken = ""
        """Why the run cannot go on after this step; empty where it can."""

    async def run(
        self, planned: Planned, stop: asyncio.Event, watch: Callable[[Sequence[Progress]], None]
    ) -> Step:
        plan, meter = self._order.plan, self._order.meter
        orders = orders_of(plan, planned.level, self._crew.size, self._budget, self._monotonic_s())
        started = self._unix_s()
        power = (self._order.other or self._order.target if planned.side == "b" else self._order.target).power
        reading = None
        if meter is None or power is None:
            reports = await self._crew.run(orders, stop, watch)
        else:
            async with meter.window(power) as window:
                reports = await self._crew.run(orders, stop, watch)
                reading = await window.end()
        whole = [report for report in reports if isinstance(report, StepDone)]
        lost = [report for report in reports if isinstance(report, str)]
        self._budget.spend(whole)
        reasons = list(dict.fromkeys([part.stopped for part in whole if part.stopped]))
        if lost:
            self.broken = f"a load worker was lost: {lost[0]}"
            reasons.append(self.broken)
        elif any(part.stopped for part in whole):
            self.broken = reasons[0]
        tally = joined(tuple(part.tally for part in whole))
        # The window goes from tick to tick of a counter, not exactly over the step: its power is what counts.
        watts = reading.watts if reading is not None and reading.is_valid else None
        return Step(
            level=planned.level,
            repeat=planned.repeat,
            side=planned.side,
            started_unix_s=started,
            tally=tally,
            joules=None if watts is None else watts * tally.wall_s,
            stopped="; ".join(reasons),
        )


def setup_of(order: LoadOrder, target: Target) -> Setup:
    """Return what the workers are told.  Raises LoadError for what they cannot do."""
    plan = order.plan
    if target.proxy:
        raise LoadError(
            f"target {target.name} is reached through a proxy, and a load test would measure that: "
            "run it from where the target can be reached directly"
        )
    if target.azure is not None or target.headers:
        what = "azure" if target.azure is not None else "headers"
        raise LoadError(
            f"target {target.name} has {what}, which a load test does not send: it would measure refusals; "
            f"name a target without {what}"
        )
    try:
        key = None if target.key is None else read_key(target.key)
    except KeyUnavailable as error:
        raise LoadError(str(error)) from None
    return Setup(
        base_url=target.base_url,
        model=target.model,
        key=key,
        tls=target.tls,
        api=plan.api,
        stream=plan.stream,
        temperature=plan.temperature,
        prompts=plan.prompts,
        good=plan.good,
        timeout_s=plan.timeout_s,
        seed=plan.seed,
        trace=plan.trace,
    )


def _served(target: Target) -> Served:
    return Served(target=target.name, base_url=target.base_url, model=target.model)


def _view(
    planned: Planned, step: int, steps: int | None, budget: Budget, monotonic_s: Callable[[], float]
) -> Callable[[Sequence[Progress]], Live]:
    began_s = monotonic_s()

    def view(parts: Sequence[Progress]) -> Live:
        now_s = monotonic_s()
        return Live(
            level=planned.level,
            step=step,
            steps=steps,
            side=planned.side,
            elapsed_s=now_s - began_s,
            tokens_left=budget.tokens - sum(part.tokens for part in parts),
            seconds_left=budget.seconds(now_s),
            requests_left=budget.requests - sum(part.sent for part in parts),
            parts=tuple(parts),
        )

    return view
