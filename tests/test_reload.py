import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.clocks import Clock
from exporter.model.configuration import BenchPlan, Configuration, TargetPlan, WebOptions
from exporter.model.power_plan import PowerOptions
from exporter.model.target import Connection, Objective, ProbeSpec, Target
from exporter.reload import Plan, ProbeJob, diff, jobs

TTFT = Objective(sli="ttft_p99", ratio=0.99, clock=Clock.TTFT, threshold_s=0.5)
AVAILABLE = Objective(sli="availability", ratio=0.995)


def spec(name: str = "short", **changes: object) -> ProbeSpec:
    base = ProbeSpec(
        name=name,
        kind="chat",
        every_s=15,
        timeout_s=30,
        stall_timeout_s=15,
        connection=Connection.REUSE,
        params=("prompt", 64),
        objectives=(TTFT, AVAILABLE),
    )
    return dataclasses.replace(base, **changes)


def target(name: str = "prod", **changes: object) -> Target:
    return dataclasses.replace(Target(name=name, base_url="http://a/v1", model="m"), **changes)


def configuration(
    *plans: tuple[Target, tuple[ProbeSpec, ...]], benches=(), port: int = 9780
) -> Configuration:
    return Configuration(
        targets=tuple(TargetPlan(target=one, probes=probes) for one, probes in plans),
        benches=tuple(benches),
        web=WebOptions(host="127.0.0.1", port=port),
    )


LIGHT = BenchPlan(suite="light", every_s=300)
OLD = configuration((target(), (spec(), spec("long"))), (target("dev"), (spec(),)), benches=[LIGHT])


def keys(some: tuple[ProbeJob, ...]) -> list[tuple[str, str]]:
    return [job.key for job in some]


def test_the_same_configuration_changes_nothing() -> None:
    plan = diff(OLD, OLD)
    assert plan.summary == "no job changes"
    assert not any(getattr(plan, field.name) for field in dataclasses.fields(Plan))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(spec(every_s=30), id="another interval"),
        pytest.param(spec(params=("prompt", 65)), id="other parameters"),
        pytest.param(spec(objectives=()), id="other objectives"),
        pytest.param(spec(connection=Connection.FRESH), id="fresh connections"),
    ],
)
def test_a_change_of_one_probe_replaces_that_job_only(other: ProbeSpec) -> None:
    new = configuration((target(), (other, spec("long"))), (target("dev"), (spec(),)), benches=[LIGHT])
    plan = diff(OLD, new)
    assert [(change.old.key, change.new.spec) for change in plan.changed] == [(("prod", "short"), other)]
    assert plan.added == plan.removed == plan.departed_targets == ()
    assert plan.summary == "probes changed: 1"


def test_a_change_of_a_target_replaces_its_probes() -> None:
    moved = target(base_url="http://b/v1", labels={"site": "fra1"})
    plan = diff(
        OLD, configuration((moved, (spec(), spec("long"))), (target("dev"), (spec(),)), benches=[LIGHT])
    )
    assert [change.new.key for change in plan.changed] == [("prod", "short"), ("prod", "long")]
    assert plan.departed_targets == ()


def test_another_model_is_another_identity() -> None:
    plan = diff(
        OLD, configuration((target(model="n"), (spec(),)), (target("dev"), (spec(),)), benches=[LIGHT])
    )
    assert [change.new.key for change in plan.changed] == [("prod", "short")]
    assert keys(plan.removed) == [("prod", "long")]
    assert plan.departed_targets == ()


def test_a_departed_target_is_named() -> None:
    plan = diff(OLD, configuration((target(), (spec(), spec("long"))), benches=[LIGHT]))
    assert plan.departed_targets == ("dev",)
    assert keys(plan.removed) == [("dev", "short")]
    assert plan.changed == plan.added == ()
    assert plan.summary == "probes removed: 1, targets departed: 1"


def test_a_bench_with_another_interval_is_replaced() -> None:
    slower = BenchPlan(suite="light", every_s=600)
    plan = diff(configuration(benches=[LIGHT]), configuration(benches=[slower]))
    assert (plan.benches_added, plan.benches_removed) == ((slower,), (LIGHT,))
    assert plan.summary == "benches added: 1, benches removed: 1"


def test_power_options_that_change_are_said() -> None:
    new = dataclasses.replace(OLD, power=PowerOptions(every_s=2.0))
    assert diff(OLD, new).summary == "power options changed: 1"


def test_another_address_needs_a_restart_and_says_so() -> None:
    assert diff(configuration(), configuration(port=9781)).summary.splitlines() == [
        "no job changes",
        "web.listen is 127.0.0.1:9781 now; the service listens on 127.0.0.1:9780 until it is restarted",
    ]


def test_another_state_file_needs_a_restart_and_says_so() -> None:
    moved = dataclasses.replace(configuration(), state_file="/var/lib/x.json")
    assert diff(configuration(), moved).restart_needed == (
        "state_file is /var/lib/x.json now; spent budgets go to none until the service is restarted",
    )


SPECS = st.lists(
    st.builds(spec, st.sampled_from("abc"), every_s=st.sampled_from([15, 30])), unique_by=lambda s: s.name
).map(tuple)
TARGETS = st.lists(
    st.tuples(st.builds(target, st.sampled_from("xyz"), model=st.sampled_from("mn")), SPECS),
    unique_by=lambda plan: plan[0].name,
)
BENCHES = st.lists(
    st.builds(BenchPlan, suite=st.sampled_from("lh"), every_s=st.sampled_from([1, 2])), unique=True
)
CONFIGURATIONS = st.builds(lambda plans, benches: configuration(*plans, benches=benches), TARGETS, BENCHES)


def applied(plan: Plan, old: Configuration) -> tuple[set[ProbeJob], set[BenchPlan]]:
    running = {job.key: job for job in jobs(old)}
    for job in plan.removed:
        del running[job.key]
    for change in plan.changed:
        assert running[change.old.key] == change.old
        running[change.new.key] = change.new
    for job in plan.added:
        assert job.key not in running
        running[job.key] = job
    benches = set(old.benches) - set(plan.benches_removed) | set(plan.benches_added)
    return {job.key: job for job in running.values()}, benches


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_the_difference_applied_to_the_old_is_the_new(old: Configuration, new: Configuration) -> None:
    running, benches = applied(diff(old, new), old)
    assert running == {job.key: job for job in jobs(new)}
    assert benches == set(new.benches)


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_jobs_that_are_the_same_are_not_named(old: Configuration, new: Configuration) -> None:
    plan = diff(old, new)
    same = [job for job in jobs(old) if job in list(jobs(new))]
    named = [*plan.added, *plan.removed, *(change.old for change in plan.changed)]
    assert not any(job in named for job in same)
