"""What a new configuration changes: a pure difference; whatever it does not name goes on untouched."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exporter.model.configuration import BenchPlan, Configuration, LoadSpec
from exporter.model.load_result import Pricing
from exporter.model.target import ProbeSpec, Target


@dataclass(frozen=True, slots=True)
class ProbeJob:
    """One probe of one target; what a scheduled job is made from."""

    target: Target
    spec: ProbeSpec

    @property
    def key(self) -> tuple[str, str]:
        """Names of target and probe: the same job, whatever else changes."""
        return (self.target.name, self.spec.name)


@dataclass(frozen=True, slots=True)
class LoadTest:
    """One scheduled load test of one target."""

    target: Target
    spec: LoadSpec
    pricing: Pricing


@dataclass(frozen=True, slots=True)
class Change:
    """A job whose target or spec is another one now; it is replaced, and its counters go on."""

    old: ProbeJob
    new: ProbeJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do to get from one configuration to another."""

    added: tuple[ProbeJob, ...]
    removed: tuple[ProbeJob, ...]
    changed: tuple[Change, ...]
    benches_added: tuple[BenchPlan, ...]
    benches_removed: tuple[BenchPlan, ...]
    """A bench whose interval or devices change is removed and added."""
    loads_added: tuple[LoadTest, ...] = ()
    loads_removed: tuple[LoadTest, ...] = ()
    """A load test of which anything changes is removed and added."""
    power_changed: bool
    """Whether devices are sampled otherwise from now on."""
    departed_targets: tuple[str, ...]
    """Names of targets that are no longer there."""
    restart_needed: tuple[str, ...]
    """What changed but takes effect at the next start only; one line each, for people."""

    @property
    def summary(self) -> str:
        """What changes, in one line and one more for each change that needs a restart."""
        counts = (
            ("probes added", len(self.added)),
            ("probes removed", len(self.removed)),
            ("probes changed", len(self.changed)),
            ("targets departed", len(self.departed_targets)),
            ("benches added", len(self.benches_added)),
            ("benches removed", len(self.benches_removed)),
            ("load tests added", len(self.loads_added)),
            ("load tests removed", len(self.loads_removed)),
            ("power options changed", int(self.power_changed)),
        )
        changes = ", ".join(f"{what}: {count}" for what, count in counts if count)
        return "\n".join((changes or "no job changes", *self.restart_needed))


def jobs(configuration: Configuration) -> Iterator[ProbeJob]:
    """Yield the probe jobs of a configuration, in the order of the file."""
    for plan in configuration.targets:
        for spec in plan.probes:
            yield ProbeJob(plan.target, spec)


def loads(configuration: Configuration) -> Iterator[LoadTest]:
    """Yield the scheduled load tests of a configuration, in the order of the file."""
    for plan in configuration.targets:
        for spec in plan.loads:
            if spec.is_scheduled:
                yield LoadTest(plan.target, spec, plan.pricing)


def diff(old: Configuration, new: Configuration) -> Plan:
    """Return what changes from old to new; target and probe names are unique in each."""
    before = {job.key: job for job in jobs(old)}
    after = {job.key: job for job in jobs(new)}
    changed = tuple(
        Change(before[key], job) for key, job in after.items() if key in before and before[key] != job
    )
    names = {plan.target.name for plan in new.targets}
    before_loads, after_loads = tuple(loads(old)), tuple(loads(new))
    return Plan(
        added=_without(after, before),
        removed=_without(before, after),
        changed=changed,
        benches_added=tuple(bench for bench in new.benches if bench not in old.benches),
        benches_removed=tuple(bench for bench in old.benches if bench not in new.benches),
        loads_added=tuple(test for test in loads(new) if test not in before_loads),
        loads_removed=tuple(test for test in loads(old) if test not in after_loads),
        power_changed=old.power != new.power,
        departed_targets=tuple(plan.target.name for plan in old.targets if plan.target.name not in names),
        restart_needed=tuple(_restart_needed(old, new)),
    )


def _without(
    some: Mapping[tuple[str, str], ProbeJob], others: Mapping[tuple[str, str], ProbeJob]
) -> tuple[ProbeJob, ...]:
    return tuple(job for key, job in some.items() if key not in others)


def _restart_needed(old: Configuration, new: Configuration) -> Iterator[str]:
    if old.web != new.web:
        yield (
            f"web.listen is {new.web.host}:{new.web.port} now; "
            f"the service listens on {old.web.host}:{old.web.port} until it is restarted"
        )
    if old.state_file != new.state_file:
        yield (
            f"state_file is {new.state_file or 'none'} now; "
            f"spent budgets go to {old.state_file or 'none'} until the service is restarted"
        )
