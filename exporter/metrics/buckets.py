"""Bucket bounds: the family's own, and what the configuration must be able to read off exactly."""

from collections.abc import Iterable

from exporter.metrics.catalogue import ALL
from exporter.metrics.catalogue.probe import HISTOGRAM_OF
from exporter.metrics.family import Family, Type
from exporter.model.configuration import TargetPlan
from exporter.model.target import Objective

_CLOCK_OF = {family.name: clock for clock, family in HISTOGRAM_OF.items()}
_NANOSECOND_DIGITS = 9


def buckets_for(
    family: Family, objectives: Iterable[Objective], timeouts_s: Iterable[float]
) -> tuple[float, ...]:
    """Return the upper bounds in seconds of one histogram family, rising, without +Inf.

    A clock's histogram gets every threshold that an objective sets on that clock, and the largest timeout,
    above which no success can lie: larger bounds of its own are left out, and no quantile is cut off at the
    top.  The library has one list a family, so it is the union over all targets.  Other histograms, and
    all of them while nothing is configured, keep their own bounds.
    """
    timeouts = {round(t, _NANOSECOND_DIGITS) for t in timeouts_s}
    clock = _CLOCK_OF.get(family.name)
    if clock is None or not timeouts:
        return family.buckets
    thresholds = {
        round(o.threshold_s, _NANOSECOND_DIGITS)
        for o in objectives
        if o.clock is clock and o.threshold_s is not None
    }
    longest = max(timeouts)
    return tuple(sorted({b for b in family.buckets if b < longest} | thresholds | {longest}))


def bucket_bounds(plans: Iterable[TargetPlan]) -> dict[str, tuple[float, ...]]:
    """Return the bounds of every histogram in the catalogue, by family name, for this configuration."""
    probes = [probe for plan in plans for probe in plan.probes]
    objectives = [objective for probe in probes for objective in probe.objectives]
    timeouts_s = [probe.timeout_s for probe in probes]
    return {
        family.name: buckets_for(family, objectives, timeouts_s)
        for family in ALL
        if family.type is Type.HISTOGRAM
    }
