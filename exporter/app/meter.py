"""What happens becomes metrics here: results, the schedule's account, reloads."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping

from exporter.adapters.prometheus import Sink
from exporter.kernels.suite import known_runs
from exporter.metrics import (
    kernel_samples,
    load_samples,
    power_samples,
    samples,
    server_samples,
    service_samples,
)
from exporter.metrics.buckets import bucket_bounds
from exporter.metrics.catalogue import ALL
from exporter.metrics.family import Sample
from exporter.metrics.model_ledger import ModelLedger
from exporter.metrics.sla_ledger import SlaLedger
from exporter.metrics.targets import departed, target_info
from exporter.model.budget import Spend
from exporter.model.configuration import Configuration
from exporter.model.job import JobKind
from exporter.model.kernel_report import BenchReport
from exporter.model.load_judgement import judge
from exporter.model.load_result import LoadRun
from exporter.model.outcome import Outcome
from exporter.model.power_view import PowerView
from exporter.model.results import ProbeResult
from exporter.model.schedule import MissCause
from exporter.model.target import Identity, ProbeSpec, Target
from exporter.reload import LoadTest, loads
from exporter.scheduler.job import Ending, Job
from exporter.web.answers import Exposition

log = logging.getLogger(__name__)

# A run that ends in one of these ways returned no result, and yet its slot must be accounted for.
_WITHOUT_RESULT = {
    Ending.CRASHED: Outcome.INTERNAL,
    Ending.OVERDUE: Outcome.INTERNAL,
    Ending.ABANDONED: Outcome.INTERNAL,
    Ending.CANCELLED: Outcome.CANCELLED,
}


class Meter:
    """Turns results and events into samples and applies them; the scheduler's observer.

    Everything but ``render`` is called on the event loop's thread.
    """

    def __init__(self, configuration: Configuration, *, unix_s: Callable[[], float]) -> None:
        self._unix_s = unix_s
        self._sink = Sink(ALL, bucket_bounds(configuration.targets))
        self._ledger = SlaLedger()
        self._models = ModelLedger()
        self._configuration = configuration
        self._targets: dict[str, Target] = {}
        self._probes: dict[str, tuple[Target, ProbeSpec]] = {}
        self._adopt(configuration)

    def started(self, version: str, revision: str, python_version: str) -> None:
        """Record the start of the service with a configuration that was accepted."""
        now = self._unix_s()
        self._sink.apply(service_samples.started(version, revision, python_version, now))
        self._sink.apply(service_samples.reloaded(now))

    def render(self, accept: str) -> Exposition:
        """Return the exposition; called from the rendering thread."""
        return Exposition(*self._sink.render(accept))

    def probed(self, name: str, result: ProbeResult) -> None:
        """Record a probe's result, unless its job has been taken off the schedule meanwhile."""
        if self._probes.get(name) == (result.target, result.spec):
            self._sink.apply(samples.of(result))
            self._sink.apply(self._ledger.record(result))
            self._sink.apply(server_samples.of(result))
            self._sink.apply(self._models.record(result))

    def confirmed(self, name: str, result: ProbeResult) -> None:
        """Record a confirmation, unless the probe's job has been taken off the schedule meanwhile."""
        if self._probes.get(name) == (result.target, result.spec):
            self._sink.apply(samples.of_confirmation(result))
            self._sink.apply(self._ledger.confirm(result))
            self._sink.apply(server_samples.cost_of(result))

    def benched(self, report: BenchReport) -> None:
        """Record a kernel bench."""
        self._sink.apply(kernel_samples.of_report(report))
        for table in kernel_samples.info(report):
            self._sink.set_info(table)

    def loading(self, test: LoadTest, in_flight: int, level: float) -> None:
        """Record how far a load test is."""
        offered = load_samples.offered_rate(test.spec.plan.mode, level)
        self._sink.apply(load_samples.under_way(_scenario(test), in_flight, offered))

    def load_idle(self, test: LoadTest) -> None:
        """Record that a load test is not running any more."""
        self._sink.apply(load_samples.under_way(_scenario(test), 0, None))

    def loaded(self, test: LoadTest, run: LoadRun) -> None:
        """Record a load test, and log what it says."""
        self._sink.apply(load_samples.of_run(_scenario(test), run, self._unix_s()))
        for found in judge(run.plan, run.steps):
            log.info("load test: target=%s scenario=%s %s", test.target.name, run.plan.scenario, found.words)

    def load_not_run(self, test: LoadTest, reason: str, detail: str = "the target is busy") -> None:
        """Record that a load test came up and was not run."""
        self._sink.apply(load_samples.not_run(_scenario(test), reason))
        scenario = test.spec.plan.scenario
        log.warning("load test not run: target=%s scenario=%s %s", test.target.name, scenario, detail)

    def powered(self, view: PowerView) -> None:
        """Show what is known about power now, and nothing that was known before."""
        self._sink.set_tables(power_samples.tables(view))

    def reconfigured(self, configuration: Configuration) -> None:
        """Forget what departed, keep what goes on, and give what is new its zeros."""
        for labels in departed(self._configuration.targets, configuration.targets):
            self._sink.forget(labels)
            self._ledger.forget(labels)
            self._models.forget(labels)
        old, new = ([plan.target for plan in each.targets] for each in (self._configuration, configuration))
        self._sink.apply(server_samples.departed_budgets(old, new))
        for labels in _departed_runs(self._configuration, configuration):
            self._sink.forget(labels)
        self._sink.set_buckets(bucket_bounds(configuration.targets))
        self._adopt(configuration)
        self._sink.apply(service_samples.reloaded(self._unix_s()))

    def spent_on_demand(self, result: ProbeResult) -> None:
        """Record what a request outside the schedule cost; its clocks are the asker's alone.

        Not where its probe departed meanwhile: its series would come back and stay.
        """
        known = self._probes.get(probe_job_name(result.target, result.spec))
        if known is not None and known[0].model == result.target.model:
            self._sink.apply(server_samples.cost_of(result))

    def budget_spent(self, target: Target, spent: Spend) -> None:
        """Record how a target's budget stands, by the configuration in force: the account goes by name."""
        now = self._targets.get(target.name)
        if now is not None and now.budget is not None:
            self._sink.apply(server_samples.budget(now, now.budget, spent))

    def state_file(self, usable: bool) -> None:
        """Record whether the state file could be used."""
        self._sink.apply(service_samples.state_file(usable=usable))

    def reload_refused(self) -> None:
        """Record that a new configuration was refused and the old one goes on."""
        self._sink.apply(service_samples.reload_refused())

    def on_lag(self, job: Job, lag_s: float) -> None:
        """Record how late a run started after its slot."""
        if job.kind is JobKind.PROBE:
            self._sink.apply(service_samples.probe_started(lag_s))

    def on_missed(self, job: Job, cause: MissCause, slots: int) -> None:
        """Record slots without a run."""
        if job.name in self._probes:
            target, spec = self._probes[job.name]
            self._sink.apply(service_samples.missed(_identity(target, spec), cause, slots))

    def on_ended(self, job: Job, ending: Ending) -> None:
        """Record how a run ended, and a result for a probe that returned none."""
        self._sink.apply(service_samples.ended(job.kind, ending))
        outcome = _WITHOUT_RESULT.get(ending)
        if outcome is not None and job.name in self._probes:
            target, spec = self._probes[job.name]
            result = ProbeResult(target=target, spec=spec, outcome=outcome, finished_unix_s=self._unix_s())
            self.probed(job.name, result)

    def on_loop_lag(self, lag_s: float) -> None:
        """Record how late the event loop came to a tick."""
        self._sink.apply(service_samples.loop_lagged(lag_s))

    def on_clock_step(self, step_s: float) -> None:  # noqa: ARG002 - the count is the metric, the log has the size
        """Record that the wall clock jumped."""
        self._sink.apply(service_samples.clock_stepped())

    def _adopt(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._targets = {plan.target.name: plan.target for plan in configuration.targets}
        self._probes = {
            probe_job_name(plan.target, spec): (plan.target, spec)
            for plan in configuration.targets
            for spec in plan.probes
        }
        self._sink.apply(service_samples.target_files(len(configuration.target_file_problems)))
        self._sink.set_info(target_info(plan.target for plan in configuration.targets))
        self._sink.apply(self._zeros(configuration))

    def _zeros(self, configuration: Configuration) -> Iterable[Sample]:
        for target, spec in self._probes.values():
            yield from samples.initial(target, spec)
            yield from server_samples.initial(target, spec)
            yield from self._ledger.standing(_identity(target, spec), spec.objectives)
        for test in loads(configuration):
            yield from load_samples.initial(_scenario(test))
        for plan in configuration.benches:
            yield from kernel_samples.initial(plan.suite, known_runs(plan))


def probe_job_name(target: Target, spec: ProbeSpec) -> str:
    """Return the unique name of a probe's job."""
    return f"probe:{target.name}/{spec.name}"


def confirm_job_name(target: Target, spec: ProbeSpec) -> str:
    """Return the unique name of the job of a probe's confirmations."""
    return f"confirm:{target.name}/{spec.name}"


def job_names(target: Target, spec: ProbeSpec) -> tuple[str, ...]:
    """Return the names of every job of a probe."""
    names = (probe_job_name(target, spec),)
    return names if spec.confirm is None else (*names, confirm_job_name(target, spec))


def _departed_runs(old: Configuration, new: Configuration) -> Iterator[Mapping[str, str]]:
    """Yield the labels of kernel series that no bench adds to any more.

    A bench on every device leaves none of its cases behind; which devices there are only its worker knew.
    """
    names = ("case", "variant", "device", "dtype")
    kept = [run.labels for plan in new.benches for run in known_runs(plan)]
    suites = {plan.suite for plan in new.benches}
    for plan in old.benches:
        if plan.suite not in suites:
            yield {"suite": plan.suite}
        if plan not in new.benches:
            most = len(names) if plan.devices else 2
            for labels in {run.labels[:most] for run in known_runs(plan)} - {each[:most] for each in kept}:
                yield dict(zip(names, labels, strict=False))


def _identity(target: Target, spec: ProbeSpec) -> Identity:
    return Identity(target.name, target.model, spec.name)


def _scenario(test: LoadTest) -> tuple[str, str, str]:
    return (test.target.name, test.target.model, test.spec.plan.scenario)
