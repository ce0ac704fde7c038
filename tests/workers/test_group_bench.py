import dataclasses
import time

import pytest

from exporter.model.kernel import Dtype, KernelRun, Verdict
from exporter.model.observation import TimeSource
from exporter.model.protocol import Measure
from exporter.model.work import CopyShape, MatmulShape
from tests.workers.shapes import SMALL, V, case_of

pytestmark = pytest.mark.torch


def measure(case, variants=None):
    from exporter.workers.group_bench import measure as ask

    return ask(Measure(case=case, device="cpu", variants=variants or case.variants))


def test_every_variant_is_timed_as_often_as_asked_and_what_went_on_is_told(monkeypatch):
    import torch

    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    group = measure(case_of(SMALL, (V.NAIVE, V.SDPA)))
    assert [seen.variant for seen in group.seen] == [V.NAIVE, V.SDPA]
    for seen in group.seen:
        assert seen.measurement.correct
        assert seen.measurement.clock is TimeSource.PROCESS_CPU
        assert {len(seen.measurement.wall_s), len(seen.measurement.cpu_s)} == {6}
        assert seen.measurement.device_s == ()
    assert group.conditions.window_s > 0
    assert group.conditions.cores >= 1


def test_variants_take_turns_in_another_order_each_round(monkeypatch):
    from exporter.workers import group_bench

    order = []
    right = group_bench.CpuWatch.time
    calls = {}

    def watching(self, call, times):
        order.append(calls.setdefault(id(times), len(calls)))
        right(self, call, times)

    monkeypatch.setattr(group_bench.CpuWatch, "time", watching)
    measure(case_of(SMALL, (V.NAIVE, V.SDPA, V.FUSED_QKV), repeats=12))
    rounds = [tuple(order[i : i + 3]) for i in range(0, len(order), 3)]
    assert len(rounds) == 12
    assert {tuple(sorted(turn)) for turn in rounds} == {(0, 1, 2)}
    assert len(set(rounds)) > 1


def test_when_the_budget_is_used_up_the_rounds_end(monkeypatch):
    from exporter.workers import group_bench

    def slow(self, call, times):
        time.sleep(0.05)
        times.wall_s.append(0.05)
        times.cpu_s.append(0.05)

    monkeypatch.setattr(group_bench.CpuWatch, "time", slow)
    group = measure(case_of(SMALL, (V.NAIVE,), repeats=1000, budget_s=0.3))
    assert 1 <= len(group.seen[0].measurement.cpu_s) < 20


def test_a_variant_that_would_not_fit_is_not_begun_and_the_others_are(monkeypatch):
    from exporter.workers import forecast

    monkeypatch.setattr(forecast, "seconds_a_call", lambda case, variants, *_: {V.NAIVE: 18.0, V.SDPA: 0.001})
    naive, sdpa = measure(case_of(SMALL, (V.NAIVE, V.SDPA))).seen
    assert (naive.verdict, sdpa.verdict) == (Verdict.PREDICTED_COST, Verdict.OK)
    assert "a call would take 18 s" in naive.detail


def test_memory_that_is_not_there_is_not_asked_for(monkeypatch):
    from exporter.adapters import machine

    monkeypatch.setattr(machine, "available_bytes", lambda: 1000)
    (seen,) = measure(case_of(SMALL, (V.NAIVE,))).seen
    assert (seen.verdict, "memory" in seen.detail) == (Verdict.PREDICTED_COST, True)


@pytest.mark.parametrize(
    ("error", "variant", "verdict"),
    [
        pytest.param(
            RuntimeError("No viable backend"), V.SDPA_CUDNN, Verdict.BACKEND_UNAVAILABLE, id="forced"
        ),
        pytest.param(RuntimeError("No C++ compiler"), V.COMPILED, Verdict.BACKEND_UNAVAILABLE, id="compiler"),
        pytest.param(RuntimeError("CUDA out of memory"), V.SDPA_FLASH, Verdict.OUT_OF_MEMORY, id="memory"),
        pytest.param(RuntimeError("shapes cannot be multiplied"), V.NAIVE, Verdict.ERROR, id="another error"),
    ],
)
def test_one_variant_that_fails_is_not_the_end_of_the_others(monkeypatch, error, variant, verdict):
    from exporter.workers import attention_variants

    def broken(material):
        raise error

    monkeypatch.setitem(attention_variants.VARIANTS, variant, broken)
    failed, well = measure(case_of(SMALL, (variant, V.SDPA), budget_s=90.0)).seen
    assert (failed.verdict, well.verdict) == (verdict, Verdict.OK)
    assert str(error) in failed.detail


@pytest.mark.parametrize(
    "work", [MatmulShape(size=64), CopyShape(copied_bytes=1 << 16)], ids=["matmul", "copy"]
)
def test_ceilings_are_measured_like_everything_else(work):
    variant = V.COPY if isinstance(work, CopyShape) else V.MATMUL
    (seen,) = measure(case_of(work, (variant,))).seen
    assert (seen.verdict, len(seen.measurement.cpu_s)) == (Verdict.OK, 6)


def test_a_warm_worker_computes_a_reference_once(monkeypatch):
    from exporter.workers import correctness, subjects

    computed = []
    right = correctness.reference_of
    monkeypatch.setattr(correctness, "reference_of", lambda material: computed.append(1) or right(material))
    monkeypatch.setattr(subjects, "_references", type(subjects._references)())
    for _ in range(3):
        measure(case_of(SMALL, (V.NAIVE, V.SDPA)))
    assert len(computed) == 1


def test_the_precision_of_float32_is_given_back():
    import torch

    measure(case_of(SMALL, (V.NAIVE,), Dtype.TF32))
    measure(case_of(SMALL, (V.NAIVE,)))
    assert torch.get_float32_matmul_precision() == "highest"


def test_a_sustained_run_marks_how_many_calls_had_ended():
    from exporter.workers.group_bench import sustain

    marks = sustain(KernelRun(case=case_of(SMALL, (V.SDPA,)), variant=V.SDPA, device="cpu"), 0.2).marks
    assert marks[0].calls == 0
    assert [m.calls for m in marks] == sorted({m.calls for m in marks})
    assert [m.monotonic_s for m in marks] == sorted(m.monotonic_s for m in marks)
    assert marks[-1].monotonic_s - marks[0].monotonic_s >= 0.2


@pytest.mark.parametrize(
    ("seconds", "left", "admitted"),
    [
        pytest.param({V.NAIVE: 0.1, V.SDPA: 0.1}, 10, {V.NAIVE, V.SDPA}, id="both fit"),
        pytest.param({V.NAIVE: 2.0, V.SDPA: 0.1}, 10, {V.SDPA}, id="only the cheap one"),
        pytest.param({V.NAIVE: 0.6, V.SDPA: 0.6}, 10, {V.NAIVE}, id="one of two"),
        pytest.param({V.COMPILED: 0.0, V.SDPA: 0.1}, 10, {V.SDPA}, id="compiling takes half a minute"),
        pytest.param({V.COMPILED: 0.0, V.SDPA: 0.1}, 50, {V.SDPA, V.COMPILED}, id="time to compile"),
        pytest.param({V.NAIVE: 0.1}, 0, set(), id="no time left"),
    ],
)
def test_the_cheapest_are_admitted_first(seconds, left, admitted):
    from exporter.workers.forecast import affordable

    assert affordable(case_of(SMALL, seconds), seconds, left, 5) == admitted


def test_a_forecast_is_the_time_of_an_eighth_times_how_much_more_there_is_to_do(monkeypatch):
    import torch

    from exporter.model.work import flops, reduced
    from exporter.workers import forecast

    asked = []

    def tenth(workshop, variant, device, accelerator):
        asked.append(workshop._case.work)
        return 0.1

    monkeypatch.setattr(forecast, "_one_call", tenth)
    case = case_of(dataclasses.replace(SMALL, query_len=512, kv_len=512), (V.NAIVE, V.COMPILED))
    predicted = forecast.seconds_a_call(case, case.variants, torch.device("cpu"), None)
    assert asked == [reduced(case.work)]
    assert predicted[V.NAIVE] >= 0.1 * flops(case.work) / flops(reduced(case.work))
    assert predicted[V.COMPILED] == 0


def test_what_is_small_anyway_is_not_forecast():
    import torch

    from exporter.workers.forecast import seconds_a_call

    case = case_of(SMALL, (V.NAIVE,))
    assert seconds_a_call(case, case.variants, torch.device("cpu"), None) == {V.NAIVE: 0.0}
