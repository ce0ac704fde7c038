import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.kernel import FAILED_VERDICTS, Dtype, KernelRun, Variant
from exporter.model.kernel_report import Summary
from exporter.model.observation import TimeSource
from exporter.model.work import CopyShape, MatmulShape, flops, moved_bytes, reduced, tokens
from tests.kernels.builders import CPU, CUDA, measured, result
from tests.model.test_attention import shapes


def test_quartiles_lie_between_the_samples():
    assert Summary.of((1.0, 2.0, 3.0, 4.0, 5.0)) == Summary(q1_s=2.0, median_s=3.0, q3_s=4.0, n=5)
    assert Summary.of((1.0, 3.0)).spread_ratio == pytest.approx(0.5)


@given(st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=40))
def test_the_summary_is_ordered_and_within_the_samples(times):
    s = Summary.of(tuple(times))
    slack = 1e-9 * max(times)
    assert min(times) - slack <= s.q1_s <= s.median_s + slack
    assert s.median_s <= s.q3_s + slack
    assert s.q3_s <= max(times) + slack


def test_on_the_cpu_the_processes_own_time_counts_and_wall_time_tells_of_contention():
    seen = result(measurement=measured(cpu=(0.02, 0.02), wall=(0.04, 0.04)))
    assert seen.times_s == (0.02, 0.02)
    assert seen.tokens_per_second == pytest.approx(4 * 128 / 0.02)
    assert seen.flops_per_second == pytest.approx(1_207_959_552 / 0.02)
    assert seen.wall_to_cpu_ratio == pytest.approx(2.0)


def test_on_several_threads_wall_time_counts():
    seen = result(measurement=measured(cpu=(0.02, 0.02), wall=(0.01, 0.01), clock=TimeSource.WALL))
    assert seen.times_s == (0.01, 0.01)
    assert seen.wall_to_cpu_ratio is None


def test_on_an_accelerator_its_own_events_count_and_the_ratio_says_nothing():
    seen = result(run=CUDA, measurement=measured(device=(0.001, 0.001), cpu=(0.02, 0.02)))
    assert seen.times_s == (0.001, 0.001)
    assert seen.wall_to_cpu_ratio is None


def test_interrupted_repeats_do_not_count():
    seen = result(measurement=measured(cpu=(0.02, 0.5, 0.02, 0.02), preemptions=(0, 3, 0, 0)))
    assert seen.times_s == (0.02, 0.02, 0.02)
    assert seen.kept_ratio == 0.75


@pytest.mark.parametrize("verdict", FAILED_VERDICTS)
def test_only_ok_has_a_timing(verdict):
    seen = result(verdict=verdict)
    assert seen.times_s == ()
    assert [seen.summary, seen.tokens_per_second, seen.flops_per_second, seen.bytes_per_second] == [None] * 4


def test_labels_come_from_the_case_and_closed_sets():
    assert CUDA.labels == ("article", "sdpa", "cuda:0", "float32")
    assert KernelRun(case=CPU.case, variant=Variant.NN_MHA, device="xpu:1").labels[1:3] == ("nn_mha", "xpu:1")


def test_ceilings_have_closed_forms_too():
    assert flops(MatmulShape(size=100)) == 2_000_000
    assert moved_bytes(MatmulShape(size=100), 2) == 60_000
    assert (flops(CopyShape(copied_bytes=64)), moved_bytes(CopyShape(copied_bytes=64), 4)) == (0, 128)
    assert tokens(MatmulShape(size=100)) is None


@given(shapes())
def test_a_forecast_costs_no_more_than_the_thing_itself(shape):
    assert flops(reduced(shape)) <= flops(shape)
    assert reduced(shape).dim == shape.dim


@pytest.mark.parametrize("dtype", Dtype)
def test_every_number_format_has_a_width_and_a_tolerance(dtype):
    assert dtype.bytes in {1, 2, 4}
    assert 0 < dtype.tolerance < 0.1
