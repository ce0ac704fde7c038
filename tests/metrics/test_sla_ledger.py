"""The running account of kept and broken promises."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from exporter.metrics.catalogue import sla
from exporter.metrics.sla_ledger import SlaLedger, next_run
from exporter.model.confirmation import Confirm
from exporter.model.outcome import Outcome
from exporter.model.sla import Promise
from exporter.model.target import Identity
from tests.metrics.builders import AVAILABILITY, TTFT_P99, probe, result, target, ttft

WHO = Identity("prod", "llama", "short")
CONFIRM = Confirm(every_s=3.0, for_s=60.0, per_hour=150)


def totals(ledger, results):
    """Sum of each family's counter, and the last value of the gauge, for the TTFT objective."""
    sums = dict.fromkeys((sla.REQUESTS.name, sla.BREACHES.name, sla.BREACH_RUNS.name, sla.UNDECIDED.name), 0)
    row = None
    for one in results:
        for sample in ledger.record(one):
            if sample.labels[3] != "ttft_p99":
                continue
            if sample.family is sla.CONSECUTIVE:
                row = sample.value
            else:
                sums[sample.family.name] += sample.value
    return (*sums.values(), row)


GOOD = result(timing=ttft(0.2))
SLOW = result(timing=ttft(0.31))
FAILED = result(Outcome.TIMEOUT_TOTAL)
EITHER = result(timing=ttft(0.3, bound_s=0.01))
CANCELLED = result(Outcome.CANCELLED)


def test_requests_breaches_runs_undecided_and_the_row():
    story = [GOOD, SLOW, FAILED, GOOD, SLOW, EITHER, SLOW, CANCELLED, FAILED]
    assert totals(SlaLedger(), story) == (7, 5, 2, 1, 3)


def joint(ledger, steps):
    """Sums of the three families of confirmations; a step is a result and whether it confirms."""
    sums = dict.fromkeys((sla.CONFIRMATIONS, sla.CONFIRMATION_BREACHES, sla.CONFIRMATION_RUNS), 0)
    for one, confirms in steps:
        confirming = replace(one, spec=replace(one.spec, confirm=CONFIRM))
        for sample in ledger.confirm(confirming) if confirms else ledger.record(confirming):
            if sample.family in sums and sample.labels[3] == "ttft_p99":
                sums[sample.family] += sample.value
    return tuple(sums.values())


def test_confirmations_inside_one_blip_are_one_run_and_after_a_good_answer_another():
    blip = [(SLOW, False), (SLOW, True), (FAILED, True), (SLOW, False), (SLOW, True)]
    assert joint(SlaLedger(), blip) == (3, 3, 1)
    assert joint(SlaLedger(), [*blip, (GOOD, True), (EITHER, True), (CANCELLED, True), (SLOW, False)]) == (
        4,
        3,
        2,
    )


def test_confirmations_leave_the_account_of_the_schedule_alone():
    ledger = SlaLedger()
    joint(ledger, [(SLOW, False), (GOOD, True), (SLOW, True), (GOOD, True)])
    assert totals(ledger, [SLOW]) == (1, 1, 0, 0, 2)


def test_a_probe_that_does_not_confirm_has_no_account_of_it():
    assert not [s for s in SlaLedger().record(SLOW) if s.family is sla.CONFIRMATION_RUNS]


def test_a_target_that_was_down_from_the_start_has_one_run():
    assert totals(SlaLedger(), [FAILED] * 3) == (3, 3, 1, 0, 3)


def test_a_cancelled_probe_is_in_no_account():
    assert list(SlaLedger().record(CANCELLED)) == []


def test_a_failure_breaches_every_objective_once():
    samples = list(SlaLedger().record(FAILED))
    assert sorted(s.labels[3] for s in samples if s.family is sla.BREACHES) == ["availability", "ttft_p99"]


def test_a_slow_success_is_available():
    samples = list(SlaLedger().record(SLOW))
    assert [s.labels[3] for s in samples if s.family is sla.BREACHES] == ["ttft_p99"]
    assert sorted(s.labels[3] for s in samples if s.family is sla.REQUESTS) == ["availability", "ttft_p99"]


def test_a_total_is_named_before_its_parts():
    families = [s.family for s in SlaLedger().record(FAILED) if s.labels[3] == "ttft_p99"]
    assert families == [sla.REQUESTS, sla.CONSECUTIVE, sla.BREACHES, sla.BREACH_RUNS]


def test_a_reload_shows_the_row_as_it_stands_and_what_is_forgotten_starts_anew():
    ledger = SlaLedger()
    other = result(Outcome.DNS, target=target("other"))
    for one in (FAILED, FAILED, other):
        list(ledger.record(one))

    def row(identity):
        return {s.labels[3]: s.value for s in ledger.standing(identity, (TTFT_P99, AVAILABILITY))}

    assert row(WHO) == {"ttft_p99": 2, "availability": 2}
    ledger.forget({"target": "prod", "model": "llama", "probe": "short", "sli": "ttft_p99"})
    assert row(WHO) == {"ttft_p99": 0, "availability": 2}
    ledger.forget({"target": "prod", "kind": "chat"})
    assert row(WHO) == {"ttft_p99": 0, "availability": 2}
    ledger.forget({"target": "prod"})
    assert row(WHO) == {"ttft_p99": 0, "availability": 0}
    assert row(Identity("other", "llama", "short"))["availability"] == 1


def test_probes_of_the_same_target_keep_their_own_rows():
    ledger = SlaLedger()
    list(ledger.record(FAILED))
    long = result(Outcome.DNS, spec=probe("long"))
    assert any(s.family is sla.BREACH_RUNS for s in ledger.record(long))


@given(st.lists(st.sampled_from([GOOD, SLOW, FAILED, EITHER, CANCELLED]), max_size=40))
def test_parts_never_exceed_their_whole(story):
    requests, breaches, runs, undecided, row = totals(SlaLedger(), story)
    assert runs <= breaches <= requests <= len(story)
    assert requests + undecided + story.count(CANCELLED) == len(story)
    assert (runs > 0) == (breaches > 0)
    assert (row or 0) <= breaches


@given(st.integers(0, 1000))
def test_only_a_kept_promise_ends_a_row(run):
    assert next_run(run, Promise.MET) == 0
    assert next_run(run, Promise.BREACHED) == run + 1
    assert next_run(run, Promise.UNDECIDED) == next_run(run, Promise.NOT_COUNTED) == run
