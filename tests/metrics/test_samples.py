"""What a probe's result does to the metrics."""

import pytest

from exporter.metrics.catalogue import probe as family
from exporter.metrics.catalogue import sla
from exporter.metrics.catalogue.schedule import MISSED
from exporter.metrics.family import Type
from exporter.metrics.samples import initial, of
from exporter.model.clocks import Clock, Measured, Phases, Timing, Tokens, TokensFrom
from exporter.model.outcome import FAILURES, Outcome
from exporter.model.transcript import StampSource
from tests.metrics.builders import AVAILABILITY, E2E_P99, TTFT_P99, WHO, probe, result, target, ttft, values

FULL = Timing(
    ttft=Measured(0.2),
    ttfc=Measured(0.25),
    tpot=Measured(0.01),
    e2e=Measured(1.0),
    gaps=(Measured(0.01), Measured(0.02)),
)


def observed(samples):
    return [(s.family, s.value) for s in samples if s.family.type is Type.HISTOGRAM]


def test_a_success_counts_once_and_shows_every_clock():
    samples = list(of(result(timing=FULL)))
    assert values(samples, family.PROBES) == {(): 1}
    assert values(samples, family.SUCCESS) == {(): 1}
    assert values(samples, family.LAST) == values(samples, family.LAST_SUCCESS) == {(): 1_700_000_000.0}
    assert values(samples, family.FAILED) == {}
    assert observed(samples) == [
        (family.TTFT, 0.2),
        (family.TTFC, 0.25),
        (family.TPOT, 0.01),
        (family.DURATION, 1.0),
        (family.ITL, 0.01),
        (family.ITL, 0.02),
    ]


@pytest.mark.parametrize("outcome", [o for o in FAILURES if o.counts_for_sla])
def test_a_failure_counts_once_under_its_reason_and_gives_no_latency(outcome):
    samples = list(of(result(outcome, timing=FULL)))
    assert values(samples, family.PROBES) == {(): 1}
    assert values(samples, family.FAILED) == {(str(outcome),): 1}
    assert values(samples, family.SUCCESS) == {(): 0}
    assert values(samples, family.LAST) == {(): 1_700_000_000.0}
    assert values(samples, family.LAST_SUCCESS) == {}
    assert observed(samples) == []
    assert values(samples, MISSED) == {}


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.OVER_BUDGET, Outcome.CLIENT_OVERLOAD])
def test_what_says_nothing_about_the_target_is_a_miss_but_its_tokens_were_spent(outcome):
    spent = Tokens(input=7, output=3, output_from=TokensFrom.CHUNKS)
    samples = list(of(result(outcome, timing=FULL, tokens=spent, reused=True)))
    assert values(samples, MISSED) == {(str(outcome),): 1}
    assert values(samples, family.TOKENS) == {("input",): 7, ("output",): 3}
    assert values(samples, family.CONNECTIONS) == {("reused",): 1}
    untouched = {family.PROBES, family.FAILED, family.SUCCESS, family.LAST, family.PHASE}
    assert untouched.isdisjoint({s.family for s in samples})
    assert observed(samples) == []


@pytest.mark.parametrize(
    ("measured", "is_observed"),
    [
        pytest.param(Measured(0.2, below_s=0.001), True, id="a bound of 1 ms is small enough"),
        pytest.param(Measured(0.2, below_s=0.01), True, id="a bound of 5 % is small enough"),
        pytest.param(Measured(0.2, below_s=0.0101), False, id="a bound over both is too large"),
        pytest.param(Measured(0.002, above_s=0.0011), False, id="the bound above counts as the one below"),
    ],
)
def test_a_value_too_uncertain_is_counted_instead_of_observed(measured, is_observed):
    samples = list(of(result(timing=Timing(ttft=measured))))
    assert observed(samples) == ([(family.TTFT, measured.value_s)] if is_observed else [])
    assert values(samples, family.INVALID) == ({} if is_observed else {("ttft",): 1})


def test_every_uncertain_gap_is_counted():
    gaps = (Measured(0.01, below_s=0.005), Measured(0.01), Measured(0.01, above_s=0.005))
    samples = list(of(result(timing=Timing(gaps=gaps))))
    assert [s.value for s in samples if s.family is family.INVALID] == [1, 1]
    assert observed(samples) == [(family.ITL, 0.01)]


def test_a_phase_that_the_last_probe_did_not_have_is_taken_away():
    samples = list(of(result(phases=Phases(send_s=0.001, wait_s=0.2, total_s=0.201))))
    assert values(samples, family.PHASE) == {
        ("dns",): None,
        ("connect",): None,
        ("tls",): None,
        ("send",): 0.001,
        ("wait",): 0.2,
        ("receive",): None,
    }
    assert set(values(list(of(result(Outcome.AUTH))), family.PHASE).values()) == {None}


def test_a_count_that_the_server_did_not_give_is_absent():
    samples = list(of(result(tokens=Tokens(output=0, reasoning=2, output_from=TokensFrom.USAGE))))
    assert values(samples, family.TOKENS) == {("output",): 0, ("reasoning",): 2}
    assert values(samples, family.TOKENS_FROM_USAGE) == {(): 1}
    assert values(list(of(result())), family.TOKENS) == {}
    assert values(list(of(result())), family.TOKENS_FROM_USAGE) == {}


def test_what_the_connection_showed():
    samples = list(
        of(
            result(
                reused=False,
                stamps=StampSource.USER,
                lateness_s=(1e-5, 2e-5),
                certificate_expiry_unix_s=2e9,
            )
        )
    )
    assert values(samples, family.CONNECTIONS) == {("new",): 1}
    assert values(samples, family.KERNEL_STAMPS) == {(): 0}
    assert values(samples, family.CERTIFICATE) == {(): 2e9}
    assert observed(samples) == [(family.LATENESS, 1e-5), (family.LATENESS, 2e-5)]
    kernel = list(of(result(reused=True, stamps=StampSource.KERNEL)))
    assert values(kernel, family.CONNECTIONS) == {("reused",): 1}
    assert values(kernel, family.KERNEL_STAMPS) == {(): 1}
    nothing = {s.family for s in of(result(Outcome.DNS))}
    assert nothing.isdisjoint({family.CONNECTIONS, family.KERNEL_STAMPS, family.CERTIFICATE})


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_counter_that_a_result_can_touch_was_born_at_0(outcome):
    gaps = (Measured(0.01), Measured(0.01, below_s=0.005))
    uncertain = Timing(ttft=Measured(0.1, 0.1), ttfc=Measured(0.1, 0.1), gaps=gaps)
    tokens = Tokens(input=1, output=1, reasoning=1, cached=1)
    born = {(s.family.name, s.labels) for s in initial(target(), probe())}
    for timing, reused in ((FULL, True), (uncertain, False)):
        for s in of(result(outcome, timing=timing, tokens=tokens, reused=reused)):
            if s.family.type is not Type.GAUGE:
                assert (s.family.name, s.labels) in born


def test_before_the_first_result_counters_stand_at_0_and_nothing_is_invented():
    spec = probe(objectives=(TTFT_P99, E2E_P99, AVAILABILITY))
    samples = list(initial(target(), spec))
    assert {s.value for s in samples if s.family.type is not Type.GAUGE} == {None}
    gauges = [(s.family, s.labels[3:], s.value) for s in samples if s.family.type is Type.GAUGE]
    assert gauges == [
        (family.PROBE_INFO, ("chat", "reuse"), 1),
        (family.INTERVAL, (), 15),
        (family.TIMEOUT, (), 30),
        (sla.OBJECTIVE, ("ttft_p99",), 0.99),
        (sla.SEVERITY_INFO, ("ttft_p99", "page"), 1),
        (sla.THRESHOLD, ("ttft_p99",), 0.3),
        (sla.OBJECTIVE, ("e2e_p99",), 0.99),
        (sla.SEVERITY_INFO, ("e2e_p99", "page"), 1),
        (sla.THRESHOLD, ("e2e_p99",), 1.25),
        (sla.OBJECTIVE, ("availability",), 0.995),
        (sla.SEVERITY_INFO, ("availability", "page"), 1),
    ]
    assert len(values(samples, family.FAILED)) == len([o for o in FAILURES if o.counts_for_sla])


def test_a_probe_has_no_histogram_of_a_clock_that_it_cannot_give():
    samples = list(initial(target(), probe(clocks=frozenset({Clock.E2E}))))
    assert [s.family for s in samples if s.family.type is Type.HISTOGRAM] == [family.DURATION]
    assert values(samples, family.INVALID) == {("e2e",): None}


def test_identity_comes_from_the_configuration_and_all_other_labels_from_closed_sets():
    hostile = 'x"} 1\ninjected{model="gpt'
    for outcome in Outcome:
        full = result(
            outcome, timing=ttft(0.1), detail=hostile, status=200, reused=True, tokens=Tokens(output=1)
        )
        for s in of(full):
            assert s.labels[:3] in {WHO, ()}
            closed = dict(s.family.closed)
            for label, value in zip(s.family.labels[3:], s.labels[3:], strict=True):
                assert value in closed[label]
