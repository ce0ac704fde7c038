"""What is known about power, as tables: whatever is not in the view is not in the next scrape."""

from collections.abc import Iterable, Iterator

from exporter.metrics.catalogue import power as names
from exporter.metrics.family import Family, Table
from exporter.metrics.gpu_samples import of_gpus
from exporter.model.power_view import PowerView, Restart, SourceView, TargetView, ZoneView

Rows = dict[tuple[str, ...], float]


def tables(view: PowerView) -> Iterator[Table]:
    """Yield one table for each family about power and GPUs."""
    yield Table(names.WORKER_UP, {} if view.worker_up is None else {(): float(view.worker_up)})
    restarts = dict(view.restarts)
    yield Table(
        names.RESTARTS,
        {} if view.worker_up is None else {(each,): float(restarts.get(each, 0)) for each in Restart},
    )
    yield _table(names.SAMPLED, [((), view.sampled_unix_s)])
    yield from _sources(view.sources)
    yield from _zones(view.zones)
    yield from _targets(view.targets)
    yield from of_gpus(view.gpus)


def _sources(sources: Iterable[SourceView]) -> Iterator[Table]:
    faults: Rows = {}
    counts: Rows = {}
    for each in sources:
        if each.health.fault is not None:
            faults[each.source, each.health.fault] = 1.0
        counts |= {(each.source, reason): float(count) for reason, count in each.health.faults}
    yield Table(names.SOURCE_UP, {(s.source,): float(s.health.fault is None) for s in sources})
    yield Table(names.SOURCE_FAULT, faults)
    yield Table(names.SOURCE_FAULTS, counts)
    yield Table(names.SOURCE_RECOVERIES, {(s.source,): float(s.health.recoveries) for s in sources})


def _zones(zones: Iterable[ZoneView]) -> Iterator[Table]:
    named = [((zone.source, zone.zone, zone.scope), zone) for zone in zones]
    yield _table(names.ZONE_POWER, ((labels, zone.power_w) for labels, zone in named))
    yield _table(names.ZONE_ENERGY, ((labels, zone.energy_j) for labels, zone in named))


def _targets(targets: Iterable[TargetView]) -> Iterator[Table]:
    targets = tuple(targets)
    who = [((target.target, target.model), target) for target in targets]
    yield _table(names.TARGET_POWER, ((labels, target.watts) for labels, target in who))
    yield Table(names.TARGET_POWER_UP, {labels: float(t.watts is not None) for labels, t in who})
    yield Table(names.TARGET_ENERGY, {labels: target.energy_j for labels, target in who})
    work = [
        ((target.target, target.model, work), target, efficiency)
        for target in targets
        for work, efficiency in target.efficiencies
    ]
    yield _table(names.JOULES_PER_TOKEN, ((labels, e.joules_per_token) for labels, _, e in work))
    yield _table(names.TOKENS_PER_JOULE, ((labels, e.tokens_per_joule) for labels, _, e in work))
    yield _table(names.REQUESTS_PER_WATT, ((labels, e.requests_per_watt) for labels, _, e in work))
    yield _table(
        names.ELECTRICITY_COST,
        (
            ((*labels, target.cost_per_kwh[1]), e.cost_per_million_tokens(target.cost_per_kwh[0]))
            for labels, target, e in work
            if target.cost_per_kwh is not None
        ),
    )


def _table(family: Family, rows: Iterable[tuple[tuple[str, ...], float | None]]) -> Table:
    return Table(family, {labels: value for labels, value in rows if value is not None})
