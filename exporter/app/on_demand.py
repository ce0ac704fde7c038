"""Probes that a page asks for: configured names only, one at a time to a target, each asker in time."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from exporter.adapters.prometheus import Sink
from exporter.app.jobs import READING_S
from exporter.app.probing import Probing
from exporter.metrics import samples, server_samples
from exporter.metrics.buckets import bucket_bounds
from exporter.metrics.catalogue.probe import PROBE
from exporter.metrics.catalogue.schedule import MISSED
from exporter.metrics.catalogue.server import SERVER
from exporter.metrics.catalogue.sla import SLA
from exporter.metrics.sla_ledger import SlaLedger
from exporter.model.configuration import Configuration, TargetPlan
from exporter.model.job import JobKind
from exporter.model.outcome import Outcome
from exporter.model.result_text import result_text
from exporter.model.results import ProbeResult
from exporter.model.schedule import Slot
from exporter.model.target import ProbeSpec, Target
from exporter.scheduler.guard import Guard, Patience
from exporter.scheduler.job import Job
from exporter.scheduler.locks import Needs
from exporter.scheduler.service import Scheduler
from exporter.web.answers import ProbeAnswer, ProbeQuery

OFFSET_S = 0.5
"""Left of a scrape's timeout for the answer to travel, as blackbox_exporter does."""
MARGIN_S = 0.25
"""After the request's own deadline, for its result to be rendered."""
LEAST_S = 0.001
"""A shorter scrape timeout is none that anybody means, and half of the smallest number is 0."""
_TEXT = "text/plain; charset=utf-8"


def deadline_s(spec_s: float, scrape_s: float | None) -> float:
    """Return how long a request may take: the probe's own timeout, and no longer than the scraper waits.

    Always positive: of a scrape timeout that the offset would use up, half is taken.
    """
    if scrape_s is None or scrape_s < LEAST_S:
        return spec_s
    return min(spec_s, max(scrape_s - OFFSET_S, scrape_s / 2))


class OnDemand:
    """Answers ``/probe``.  Askers of a probe that is going on share its result."""

    def __init__(
        self,
        probing: Probing,
        scheduler: Scheduler,
        configuration: Callable[[], Configuration],
        on_result: Callable[[ProbeResult], None],
        *,
        unix_s: Callable[[], float],
    ) -> None:
        self._probing = probing
        self._scheduler = scheduler
        self._configuration = configuration
        self._on_result = on_result
        self._unix_s = unix_s
        self._guard = Guard(Patience())
        self._going: dict[tuple[str, str], asyncio.Task[ProbeResult | None]] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def answer(self, query: ProbeQuery) -> ProbeAnswer:
        """Run the probe, or wait for the one that is going on, and answer with its metrics alone."""
        found = self._find(query)
        if isinstance(found, ProbeAnswer):
            return found
        plan, spec = found
        wait_s = deadline_s(spec.timeout_s, query.scrape_timeout_s)
        key = (plan.target.name, spec.name)
        task = self._going.get(key)
        if task is None:
            task = asyncio.create_task(self._run(plan.target, spec, wait_s), name=f"on demand {spec.name}")
            self._going[key] = task
            task.add_done_callback(lambda _: self._going.pop(key, None))
        try:
            async with asyncio.timeout(wait_s + MARGIN_S):
                result = await asyncio.shield(task)
        except TimeoutError:
            result = None
        if result is None:
            text = "the target is being probed or load-tested by others; ask again later\n"
            return ProbeAnswer(503, text.encode(), _TEXT)
        return _rendered(plan, spec, result, query)

    def _find(self, query: ProbeQuery) -> tuple[TargetPlan, ProbeSpec] | ProbeAnswer:
        plans = self._configuration().targets
        plan = next((plan for plan in plans if plan.target.name == query.target), None)
        if plan is None:
            return ProbeAnswer(
                404, b"there is no such target in the configuration; /config shows it\n", _TEXT
            )
        spec = next((spec for spec in plan.probes if query.probe in {None, spec.name}), None)
        if spec is None:
            return ProbeAnswer(404, b"the target has no such probe; /config shows those it has\n", _TEXT)
        return plan, spec

    async def _run(self, target: Target, spec: ProbeSpec, wait_s: float) -> ProbeResult | None:
        """Take the target's turn and run; None where it did not come in time."""
        loop = asyncio.get_running_loop()
        end_s = loop.time() + wait_s
        async with self._turns[target.name]:
            left_s = end_s - loop.time()
            with self._scheduler.holding(Needs(shared=frozenset({f"target:{target.name}"}))) as is_free:
                if not is_free or left_s < min(MARGIN_S, wait_s / 2):
                    return None
                return await self._attended(target, replace(spec, timeout_s=left_s))

    async def _attended(self, target: Target, spec: ProbeSpec) -> ProbeResult:
        results: list[ProbeResult] = []

        async def run(_slot: Slot) -> None:
            results.append(await self._probing.run(target, spec))

        job = Job(
            name=f"on demand {target.name}/{spec.name}",
            kind=JobKind.PROBE,
            every_s=spec.every_s,
            deadline_s=spec.timeout_s + READING_S,
            run=run,
        )
        never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await self._guard.attend(job, Slot(0, 0), never)
        if not results:
            now_s = self._unix_s()
            return ProbeResult(target=target, spec=spec, outcome=Outcome.INTERNAL, finished_unix_s=now_s)
        self._on_result(results[0])
        return results[0]


def _rendered(plan: TargetPlan, spec: ProbeSpec, result: ProbeResult, query: ProbeQuery) -> ProbeAnswer:
    alone = TargetPlan(target=plan.target, probes=(spec,))
    sink = Sink((*PROBE, *SLA, MISSED, *SERVER), bucket_bounds((alone,)), with_process=False)
    sink.apply(samples.initial(plan.target, spec))
    sink.apply(samples.of(result))
    sink.apply(server_samples.of(result))
    sink.apply(SlaLedger().record(result))
    body, content_type = sink.render("" if query.debug else query.accept)
    if query.debug:
        return ProbeAnswer(200, result_text(result).encode() + b"\n" + body, _TEXT)
    return ProbeAnswer(200, body, content_type)
