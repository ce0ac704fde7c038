import dataclasses

import pytest

from exporter.kernels.suite import ARTICLE
from exporter.model.attention import AttentionShape, total_flops
from exporter.model.kernel import Backend, KernelCase, KernelRun, Variant

pytestmark = pytest.mark.torch

SMALL = AttentionShape(batch=2, query_len=16, kv_len=16, dim=32, heads=4, kv_heads=4)


def run_of(variant, shape=SMALL):
    case = KernelCase(name="small", shape=shape, warmup=2, repeats=3, deadline_s=30)
    return KernelRun(case=case, variant=variant, device="cpu")


@pytest.mark.parametrize("shape", [SMALL, ARTICLE.shape], ids=["small", "article"])
def test_the_closed_form_is_what_the_profiler_counts_on_the_naive_module(shape):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from exporter.workers.attention_modules import NaiveAttention

    module = NaiveAttention(shape).eval()
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(torch.randn(shape.batch, shape.query_len, shape.dim))
    assert counter.get_total_flops() == total_flops(shape)


def test_both_variants_agree_with_the_frameworks_own_multi_head_attention():
    import torch

    from exporter.workers.attention_modules import MODULES

    torch.manual_seed(1)
    own = torch.nn.MultiheadAttention(SMALL.dim, SMALL.heads, batch_first=True).eval()
    x = torch.randn(SMALL.batch, SMALL.query_len, SMALL.dim)
    for kind in MODULES.values():
        module = kind(SMALL).eval()
        with torch.no_grad():
            for part, name in enumerate("qkv"):
                rows = slice(part * SMALL.dim, (part + 1) * SMALL.dim)
                getattr(module, name).weight.copy_(own.in_proj_weight[rows])
                getattr(module, name).bias.copy_(own.in_proj_bias[rows])
            module.o.load_state_dict(own.out_proj.state_dict())
            theirs, _ = own(x, x, x, need_weights=True)
            torch.testing.assert_close(module(x), theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("variant", Variant)
def test_every_variant_is_right_and_timed_as_often_as_asked(variant):
    from exporter.workers.attention_bench import measure

    seen = measure(run_of(variant))
    assert seen.correct
    assert seen.relative_error < 1e-5
    assert len(seen.wall_s) == len(seen.cpu_s) == 3
    assert seen.device_s == ()


def test_the_backend_is_the_one_that_the_profiler_sees():
    import torch

    from exporter.workers.attention_modules import SdpaAttention

    module, x = SdpaAttention(SMALL).eval(), torch.randn(SMALL.batch, SMALL.query_len, SMALL.dim)
    with torch.no_grad(), torch.profiler.profile() as profile:
        module(x)
    flash = any("flash_attention" in event.key for event in profile.key_averages())
    assert module.backend(x) is (Backend.FLASH if flash else Backend.MATH)


@pytest.mark.parametrize(
    ("spoil", "error_is"),
    [
        pytest.param(lambda y: y * 1.001, lambda error: 1e-4 < error < 1e-2, id="off by a thousandth"),
        pytest.param(lambda y: y * float("nan"), lambda error: error is None, id="not a number"),
        pytest.param(lambda y: y / 0, lambda error: error is None, id="infinite"),
        pytest.param(lambda y: y * 0, lambda error: error == 1, id="all zero"),
    ],
)
def test_a_wrong_result_is_caught_before_the_clock(monkeypatch, spoil, error_is):
    from exporter.workers import attention_bench
    from exporter.workers.attention_modules import MODULES, SdpaAttention

    calls = []

    class Spoiled(SdpaAttention):
        def forward(self, x):
            calls.append(1)
            return spoil(super().forward(x))

    monkeypatch.setitem(MODULES, Variant.SDPA, Spoiled)
    seen = attention_bench.measure(run_of(Variant.SDPA))
    assert not seen.correct
    assert error_is(seen.relative_error)
    assert (seen.wall_s, seen.cpu_s, seen.device_s) == ((), (), ())
    assert len(calls) == 1


def test_inputs_are_random_and_the_same_each_time(monkeypatch):
    import torch

    from exporter.workers import attention_bench
    from exporter.workers.attention_modules import MODULES, NaiveAttention

    inputs = []

    class Watching(NaiveAttention):
        def forward(self, x):
            inputs.append(x)
            return super().forward(x)

    monkeypatch.setitem(MODULES, Variant.NAIVE, Watching)
    for _ in range(2):
        attention_bench.measure(run_of(Variant.NAIVE))
    assert len(inputs) == 2 * (1 + 2 + 3)
    assert all(torch.equal(x, inputs[0]) for x in inputs)
    assert 0.8 < inputs[0].std() < 1.2


@pytest.mark.parametrize(
    "other",
    [{"causal": True}, {"kv_len": 32}, {"kv_heads": 2}],
    ids=["a mask", "a cache", "grouped queries"],
)
def test_what_is_not_written_is_refused_not_measured_as_something_else(other):
    from exporter.workers.attention_modules import NaiveAttention

    with pytest.raises(ValueError, match="not written here"):
        NaiveAttention(dataclasses.replace(SMALL, **other))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t: fpu\n", "AMD EPYC 7B13", id="x86"
        ),
        pytest.param("processor\t: 0\nBogoMIPS\t: 243.75\n", None, id="Arm has no model name"),
        pytest.param("", None, id="no /proc"),
    ],
)
def test_the_processor_has_a_name(text, name):
    import platform

    from exporter.workers.devices import cpu_name

    assert cpu_name(text) == (name or platform.machine())


def test_on_an_accelerator_every_repeat_is_synchronised_on_both_sides_and_timed_by_events(monkeypatch):
    import contextlib

    import torch

    from exporter.workers.attention_bench import _time_on_cuda

    log = []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            log.append("event")

        def elapsed_time(self, end):
            return 2.5

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: log.append("wait"))
    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    times = _time_on_cuda(lambda: log.append("call"), 2, torch.device("cuda:0"))
    assert log == ["wait", "event", "call", "event", "wait"] * 2
    assert times["device_s"] == (0.0025, 0.0025)
    assert len(times["wall_s"]) == len(times["cpu_s"]) == 2
