import dataclasses

import pytest

from exporter.kernels.suite import ARTICLE
from exporter.metrics import kernel_samples
from exporter.metrics.catalogue import kernel as names
from exporter.metrics.family import Type
from exporter.model.kernel import (
    FAILED_VERDICTS,
    Backend,
    BenchReport,
    DeviceFound,
    Environment,
    KernelResult,
    KernelRun,
    Measurement,
    Variant,
    Verdict,
)

RUN = KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cpu")
LABELS = ("article", "sdpa", "cpu", "float32")
TIMES = (0.02,) * 20
GOOD = KernelResult(
    run=RUN,
    verdict=Verdict.OK,
    measurement=Measurement(
        backend=Backend.FLASH, relative_error=2e-7, correct=True, wall_s=(0.03,) * 20, cpu_s=TIMES
    ),
)
WRONG = KernelResult(
    run=RUN,
    verdict=Verdict.INCORRECT,
    measurement=Measurement(backend=Backend.MATH, relative_error=0.5, correct=False),
)
DEAD = KernelResult(run=RUN, verdict=Verdict.CRASHED)
FOUND = Environment(
    torch_version="2.13.0",
    threads=1,
    devices=(DeviceFound(device="cpu", name="EPYC"), DeviceFound(device="cuda:0", name="H200")),
)


def report(*results, supported=True, environment=FOUND):
    return BenchReport(
        suite="light",
        supported=supported,
        environment=environment,
        results=results,
        seconds=2.5,
        finished_unix_s=1e9,
    )


def changes(bench_report):
    """The last value by family and labels; None: a child created, or a gauge taken away."""
    return {(s.family, s.labels): s.value for s in kernel_samples.of_report(bench_report)}


GAUGES_OF_A_RUN = (
    names.MEDIAN,
    names.TOKENS_PER_SECOND,
    names.FLOPS_PER_SECOND,
    names.CONTENTION,
    names.CORRECT,
    names.RELATIVE_ERROR,
)


def test_a_good_run_is_observed_and_described():
    seen = changes(report(GOOD))
    observed = [s.value for s in kernel_samples.of_report(report(GOOD)) if s.family is names.DURATION]
    assert observed == list(TIMES)
    assert seen[names.MEDIAN, LABELS] == pytest.approx(0.02)
    assert seen[names.TOKENS_PER_SECOND, LABELS] == pytest.approx(25_600)
    assert seen[names.FLOPS_PER_SECOND, LABELS] == pytest.approx(1_207_959_552 / 0.02)
    assert seen[names.CONTENTION, LABELS] == pytest.approx(1.5)
    assert seen[names.CORRECT, LABELS] == 1
    assert seen[names.RUNS, ("light", *LABELS)] == 1
    assert seen[names.BENCH_SECONDS, ("light",)] == 2.5
    assert seen[names.LAST_RUN, ("light",)] == 1e9
    assert seen[names.SUPPORTED, ()] == 1


def test_the_backend_that_ran_is_one_and_every_other_is_zero():
    seen = changes(report(GOOD))
    assert {b: seen[names.BACKEND, (*LABELS, b)] for b in Backend} == {
        b: float(b is Backend.FLASH) for b in Backend
    }


def test_a_wrong_result_is_counted_not_timed_and_takes_the_old_numbers_away():
    seen = changes(report(WRONG))
    assert seen[names.RUN_FAILURES, ("light", *LABELS, "incorrect")] == 1
    assert seen[names.CORRECT, LABELS] == 0
    assert seen[names.RELATIVE_ERROR, LABELS] == 0.5
    assert seen[names.TOKENS_PER_SECOND, LABELS] is None
    assert not any(family is names.DURATION for family, _ in seen)


def test_a_dead_worker_leaves_no_number_behind():
    seen = changes(report(DEAD))
    assert seen[names.RUN_FAILURES, ("light", *LABELS, "crashed")] == 1
    assert [seen[family, LABELS] for family in GAUGES_OF_A_RUN] == [None] * len(GAUGES_OF_A_RUN)
    assert {seen[names.BACKEND, (*LABELS, b)] for b in Backend} == {None}


@pytest.mark.parametrize("verdict", FAILED_VERDICTS)
def test_every_failure_has_a_reason_that_was_there_at_zero(verdict):
    born = {(s.family, s.labels): s.value for s in kernel_samples.initial("light", [RUN])}
    assert born[names.RUN_FAILURES, ("light", *LABELS, verdict.value)] is None
    grown = changes(report(dataclasses.replace(DEAD, verdict=verdict)))
    assert {key for key in grown if key[0] is names.RUN_FAILURES} <= set(born)


def test_initial_creates_no_gauge():
    assert {s.family.type for s in kernel_samples.initial("light", [RUN])} == {Type.COUNTER}


def test_without_torch_supported_is_zero_and_nothing_else_is_claimed():
    seen = changes(report(supported=False, environment=None))
    assert seen[names.SUPPORTED, ()] == 0
    assert {family for family, _ in seen} == {names.SUPPORTED, names.BENCH_SECONDS, names.LAST_RUN}
    assert kernel_samples.info(report(supported=False, environment=None)).rows == ()


def test_a_worker_that_died_first_says_nothing_about_support():
    dumb = report(DEAD, supported=None, environment=None)
    assert (names.SUPPORTED, ()) not in changes(dumb)
    assert kernel_samples.info(dumb) is None


def test_info_names_every_device():
    assert kernel_samples.info(report(GOOD)).rows == (
        ("cpu", "EPYC", "2.13.0", "1"),
        ("cuda:0", "H200", "2.13.0", "1"),
    )


@pytest.mark.parametrize("result", [GOOD, WRONG, DEAD], ids=lambda r: r.verdict.value)
def test_every_sample_fits_its_family_and_every_family_is_listed(result):
    for sample in kernel_samples.of_report(report(result)):
        assert sample.family in names.KERNEL
        assert len(sample.labels) == len(sample.family.labels)
        for label, values in sample.family.closed:
            assert sample.labels[sample.family.labels.index(label)] in values


def test_a_total_is_changed_before_its_part():
    order = [s.family for s in kernel_samples.of_report(report(DEAD)) if s.value == 1]
    assert order.index(names.RUNS) < order.index(names.RUN_FAILURES)


def test_buckets_reach_from_ten_microseconds_to_thirty_seconds():
    assert (names.DURATION.buckets[0], names.DURATION.buckets[-1]) == (1e-5, 30.0)
    assert list(names.DURATION.buckets) == sorted(set(names.DURATION.buckets))


def test_counters_and_only_counters_end_in_total():
    assert all(f.name.endswith("_total") == (f.type is Type.COUNTER) for f in names.KERNEL)
    assert all(f.name.startswith("inference_kernel_") for f in names.KERNEL)
