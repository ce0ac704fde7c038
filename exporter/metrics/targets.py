"""What a configuration does to the metrics: the info table, and the series that a reload leaves behind."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from exporter.metrics.catalogue.probe import TARGET_INFO
from exporter.metrics.family import InfoTable
from exporter.model.configuration import TargetPlan
from exporter.model.target import Identity, ProbeSpec, Target


def target_info(targets: Iterable[Target]) -> InfoTable:
    """Return the rows of the target info family.

    Its label names are the family's own and every name that any target's ``labels`` uses; a target without
    such a label has "", which in Prometheus is the same as not having it.  A configured name never replaces
    one of the family's own.
    """
    targets = tuple(targets)
    own = TARGET_INFO.labels
    extra = sorted({name for target in targets for name in target.labels} - set(own))
    return InfoTable(
        family=TARGET_INFO,
        labels=(*own, *extra),
        rows=tuple(
            (target.name, target.model, _host(target), *(target.labels.get(name, "") for name in extra))
            for target in targets
        ),
    )


def _host(target: Target) -> str:
    """Return host and port as configured, without the user and password that a URL may carry."""
    return urlsplit(target.base_url).netloc.rpartition("@")[2]


def departed(old: Sequence[TargetPlan], new: Sequence[TargetPlan]) -> tuple[Mapping[str, str], ...]:
    """Return which series a reload leaves behind, as label sets for ``Sink.forget`` and ``SlaLedger.forget``.

    Every other series goes on.  A probe that can no longer give the same clocks measures something else:
    it starts anew under its name.
    """
    gone = (who for who in _scenarios(old) if who not in _scenarios(new))
    return (*_departed(_probes(old), _probes(new)), *gone)


def _scenarios(plans: Iterable[TargetPlan]) -> list[Mapping[str, str]]:
    return [
        {"target": plan.target.name, "model": plan.target.model, "scenario": spec.plan.scenario}
        for plan in plans
        for spec in plan.loads
        if spec.is_scheduled
    ]


def _probes(plans: Iterable[TargetPlan]) -> dict[Identity, ProbeSpec]:
    return {
        Identity(plan.target.name, plan.target.model, probe.name): probe
        for plan in plans
        for probe in plan.probes
    }


def _departed(old: dict[Identity, ProbeSpec], new: dict[Identity, ProbeSpec]) -> Iterator[Mapping[str, str]]:
    for identity, before in old.items():
        who = {"target": identity.target, "model": identity.model, "probe": identity.probe}
        after = new.get(identity)
        if after is None or after.clocks != before.clocks:
            yield who
            continue
        if (after.kind, after.connection) != (before.kind, before.connection):
            yield who | {"kind": before.kind, "connection": str(before.connection)}
        kept = {objective.sli: objective for objective in after.objectives}
        for objective in before.objectives:
            if objective.sli not in kept:
                yield who | {"sli": objective.sli}
            elif objective.severity is not kept[objective.sli].severity:
                yield who | {"sli": objective.sli, "severity": str(objective.severity)}
