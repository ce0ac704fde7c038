import dataclasses

import pytest

from exporter.metrics import kernel_samples
from exporter.metrics.catalogue import kernel as names
from exporter.metrics.catalogue import kernel_meaning as meaning
from exporter.metrics.family import Type
from exporter.model.call_energy import CallEnergy
from exporter.model.kernel import FAILED_VERDICTS, Backend, Dtype, KernelRun, Variant, Verdict
from exporter.model.kernel_report import SkipReason
from exporter.model.regression import Standing
from exporter.model.roofline import Bound, Ceilings, Peak, Placement
from tests.kernels.builders import ARTICLE, CALM, UNTIMED, measured, report, result

RUN = KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cpu")
LABELS = ("article", "sdpa", "cpu", "float32")
TIMES = (0.02,) * 20
GOOD = result(
    RUN,
    measurement=measured(wall=(0.03,) * 20),
    placement=Placement(intensity=192.0, bound=Bound.COMPUTE, roofline_ratio=0.8, mfu=0.4, mbu=0.1),
    energy=CallEnergy(joules_per_call=2.0, window_s=2.5, ticks=25, joules=500.0),
    standing=Standing(baseline_s=0.019, ratio=1.05, regressed=False),
)
WRONG = result(
    RUN, Verdict.INCORRECT, measured(relative_error=0.5, backend=Backend.MATH, **UNTIMED), conditions=None
)
DEAD = dataclasses.replace(WRONG, verdict=Verdict.CRASHED, measurement=None)
CONTENDED = result(RUN, Verdict.CONTENDED, conditions=dataclasses.replace(CALM, foreign_cpu_s=0.5))
PEAK = Peak(flops_per_second={Dtype.BFLOAT16: 1e15}, bytes_per_second=4e12, source="operator")
FULL = {
    "ceilings": (Ceilings(device="cpu", flops_per_second={Dtype.FLOAT32: 8e10}, bytes_per_second=1e10),),
    "peaks": (("cuda:0", PEAK),),
    "fingerprints": (("cpu", "0123456789ab"),),
    "joules": 500.0,
}


def changes(bench_report):
    """The last value by family and labels; None: a child created, or a gauge taken away."""
    return {(s.family, s.labels): s.value for s in kernel_samples.of_report(bench_report)}


GAUGES_OF_A_RUN = tuple(
    family
    for family in names.KERNEL
    if family.labels == meaning.RUN_LABELS and family.type is Type.GAUGE and family is not names.VALID
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
    assert seen[names.VALID, LABELS] == 1
    assert seen[names.KEPT, LABELS] == 1
    assert seen[names.FOREIGN, ("article", "cpu", "float32")] == pytest.approx(0.05)
    assert seen[meaning.ROOFLINE, LABELS] == 0.8
    assert (seen[meaning.MFU, LABELS], seen[meaning.MBU, LABELS]) == (0.4, 0.1)
    assert seen[meaning.TOKENS_PER_JOULE, LABELS] == 256
    assert (seen[meaning.BASELINE, LABELS], seen[meaning.REGRESSED, LABELS]) == (0.019, 0)
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
    assert {seen[meaning.BOUND, (*LABELS, b)] for b in Bound} == {None}
    assert seen[names.VALID, LABELS] == 0


def test_a_disturbed_run_has_no_time_but_says_by_how_much_it_was_disturbed():
    seen = changes(report(CONTENDED))
    assert seen[names.RUN_FAILURES, ("light", *LABELS, "contended")] == 1
    assert seen[names.MEDIAN, LABELS] is None
    assert seen[names.CORRECT, LABELS] == 1
    assert seen[names.FOREIGN, ("article", "cpu", "float32")] == 0.5
    assert not any(family is names.DURATION for family, _ in seen)


def test_ceilings_and_peaks_are_told_by_device_and_format():
    seen = changes(report(GOOD, **FULL))
    assert seen[meaning.CEILING_FLOPS, ("cpu", "float32")] == 8e10
    assert seen[meaning.CEILING_FLOPS, ("cpu", "bfloat16")] is None
    assert seen[meaning.CEILING_BYTES, ("cpu",)] == 1e10
    assert seen[meaning.PEAK_FLOPS, ("cuda:0", "bfloat16", "operator")] == 1e15
    assert seen[meaning.PEAK_BYTES, ("cuda:0", "operator")] == 4e12
    assert seen[names.BENCH_JOULES, ("light",)] == 500


@pytest.mark.parametrize("reason", SkipReason)
def test_a_suite_left_out_is_counted_and_changes_no_number(reason):
    seen = changes(report(skipped=reason, supported=None, environment=None))
    assert seen.pop((names.SKIPPED, ("light", reason.value))) == 1
    assert seen.pop((names.BENCH_SECONDS, ("light",))) == 2.5
    assert set(seen.values()) == {None}
    assert {family.type for family, _ in seen} == {Type.COUNTER}


def test_a_device_left_out_is_counted():
    seen = changes(report(GOOD, skipped_devices=("cuda:0",)))
    assert seen[names.SKIPPED, ("light", "accelerator_busy")] == 1


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
    grown = {family for (family, _), value in seen.items() if value is not None}
    assert grown == {names.SUPPORTED, names.BENCH_SECONDS, names.LAST_RUN}
    assert [table.rows for table in kernel_samples.info(report(supported=False, environment=None))] == [
        (),
        (),
    ]


def test_a_worker_that_died_first_says_nothing_about_support():
    dumb = report(DEAD, supported=None, environment=None)
    assert (names.SUPPORTED, ()) not in changes(dumb)
    assert kernel_samples.info(dumb) == ()


def test_info_names_every_device():
    devices, fingerprints = kernel_samples.info(report(GOOD, **FULL))
    assert devices.rows == (("cpu", "EPYC", "2.13.0", "1"), ("cuda:0", "H200", "2.13.0", "1"))
    assert fingerprints.rows == (("cpu", "0123456789ab"),)


@pytest.mark.parametrize("result", [GOOD, WRONG, DEAD, CONTENDED], ids=lambda r: r.verdict.value)
def test_every_sample_fits_its_family_and_every_family_is_listed(result):
    for sample in kernel_samples.of_report(report(result, **FULL)):
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
