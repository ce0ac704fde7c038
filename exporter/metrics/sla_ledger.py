"""The running account of kept and broken promises: what one request adds depends on the one before it."""

from collections.abc import Iterator, Mapping

from exporter.metrics.catalogue import sla
from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Sample, matches
from exporter.model.results import ProbeResult
from exporter.model.sla import Promise, decide
from exporter.model.target import Identity, Objective

_Series = tuple[str, str, str, str]


def next_run(run: int, promise: Promise) -> int:
    """Return how many breaches in a row there are after this request, given ``run`` before it.

    A request that decides nothing leaves the row as it is: it is no evidence that the fault is over.
    """
    if promise is Promise.BREACHED:
        return run + 1
    return 0 if promise is Promise.MET else run


class SlaLedger:
    """Per probe and SLI, the length of the run of breaches that is going on.

    The first breach after a start begins a run: what was before is unknown, and an outage that was there
    from the start must count as one.
    """

    def __init__(self) -> None:
        self._runs: dict[_Series, int] = {}
        self._joint: dict[_Series, int] = {}

    def standing(self, identity: Identity, objectives: tuple[Objective, ...]) -> Iterator[Sample]:
        """Yield the runs as they stand, 0 for an objective not yet held against anything."""
        for objective in objectives:
            series = (*identity.labels, objective.sli)
            yield Sample(sla.CONSECUTIVE, series, self._runs.setdefault(series, 0))

    def record(self, result: ProbeResult) -> Iterator[Sample]:
        """Yield what one result adds to each objective of its probe, and remember it for the next one."""
        for objective in result.spec.objectives:
            series = (*result.identity.labels, objective.sli)
            promise = decide(result.outcome, result.timing, objective)
            before = self._runs.get(series, 0)
            self._runs[series] = next_run(before, promise)
            yield from _entries(series, promise, before)
            if result.spec.confirm is not None:
                yield from self._join(series, promise)

    def confirm(self, result: ProbeResult) -> Iterator[Sample]:
        """Yield what one confirmation adds; the row of the schedule goes on as if it had not been."""
        for objective in result.spec.objectives:
            series = (*result.identity.labels, objective.sli)
            promise = decide(result.outcome, result.timing, objective)
            if promise in {Promise.MET, Promise.BREACHED}:
                yield Sample(sla.CONFIRMATIONS, series, 1)
            if promise is Promise.BREACHED:
                yield Sample(sla.CONFIRMATION_BREACHES, series, 1)
            yield from self._join(series, promise)

    def forget(self, labels: Mapping[str, str]) -> None:
        """Drop the runs of every series that has all these labels."""
        names = (*WHO, "sli")
        self._runs = {s: run for s, run in self._runs.items() if not matches(names, s, labels)}
        self._joint = {s: run for s, run in self._joint.items() if not matches(names, s, labels)}

    def _join(self, series: _Series, promise: Promise) -> Iterator[Sample]:
        before = self._joint.get(series, 0)
        self._joint[series] = next_run(before, promise)
        if promise is Promise.BREACHED and before == 0:
            yield Sample(sla.CONFIRMATION_RUNS, series, 1)


def _entries(series: _Series, promise: Promise, before: int) -> Iterator[Sample]:
    if promise is Promise.UNDECIDED:
        yield Sample(sla.UNDECIDED, series, 1)
    if promise in {Promise.MET, Promise.BREACHED}:
        yield Sample(sla.REQUESTS, series, 1)
        yield Sample(sla.CONSECUTIVE, series, next_run(before, promise))
    if promise is Promise.BREACHED:
        yield Sample(sla.BREACHES, series, 1)
        if before == 0:
            yield Sample(sla.BREACH_RUNS, series, 1)
