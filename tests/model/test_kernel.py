import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.kernels.suite import ARTICLE
from exporter.model.kernel import (
    FAILED_VERDICTS,
    Backend,
    KernelResult,
    KernelRun,
    Measurement,
    Summary,
    Variant,
    Verdict,
)

CPU = KernelRun(case=ARTICLE, variant=Variant.NAIVE, device="cpu")
CUDA = KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cuda:0")


def result(run=CPU, verdict=Verdict.OK, wall=(0.04, 0.04), cpu=(0.02, 0.02), device=()):
    seen = Measurement(
        backend=Backend.EAGER, relative_error=1e-7, correct=True, wall_s=wall, cpu_s=cpu, device_s=device
    )
    return KernelResult(run=run, verdict=verdict, measurement=seen)


def test_quartiles_lie_between_the_samples():
    assert Summary.of((1.0, 2.0, 3.0, 4.0, 5.0)) == Summary(q1_s=2.0, median_s=3.0, q3_s=4.0, n=5)
    assert Summary.of((1.0, 3.0)) == Summary(q1_s=1.5, median_s=2.0, q3_s=2.5, n=2)


@given(st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=40))
def test_the_summary_is_ordered_and_within_the_samples(times):
    s = Summary.of(tuple(times))
    slack = 1e-9 * max(times)
    assert min(times) - slack <= s.q1_s <= s.median_s + slack
    assert s.median_s <= s.q3_s + slack
    assert s.q3_s <= max(times) + slack


def test_on_the_cpu_the_processes_own_time_counts_and_wall_time_tells_of_contention():
    seen = result()
    assert seen.times_s == (0.02, 0.02)
    assert seen.tokens_per_second == pytest.approx(4 * 128 / 0.02)
    assert seen.flops_per_second == pytest.approx(1_207_959_552 / 0.02)
    assert seen.wall_to_cpu_ratio == pytest.approx(2.0)


def test_on_an_accelerator_its_own_events_count_and_the_ratio_says_nothing():
    seen = result(run=CUDA, device=(0.001, 0.001))
    assert seen.times_s == (0.001, 0.001)
    assert seen.wall_to_cpu_ratio is None


@pytest.mark.parametrize("verdict", FAILED_VERDICTS)
def test_only_ok_has_a_timing(verdict):
    seen = result(verdict=verdict)
    assert seen.times_s == ()
    assert [seen.summary, seen.tokens_per_second, seen.flops_per_second, seen.wall_to_cpu_ratio] == [None] * 4


def test_labels_come_from_the_case_and_closed_sets():
    assert CUDA.labels == ("article", "sdpa", "cuda:0", "float32")
