import dataclasses

import pytest

from exporter.kernels.cases import ARTICLE
from exporter.model.attention import total_flops
from exporter.model.kernel import Backend, Dtype, Variant
from tests.workers.shapes import CAUSAL, DECODE, DECODE_GROUPED, GROUPED, PLAIN, SMALL, VARLEN, V, case_of

# Torch's own warnings about parts of itself.
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors"),
    pytest.mark.filterwarnings("ignore:`torch.jit"),
]


def workshop(shape, dtype=Dtype.FLOAT32):
    import torch

    from exporter.workers.subjects import Workshop

    return (
        Workshop(case_of(shape, ()), torch.device("cpu"))
        if dtype is Dtype.FLOAT32
        else Workshop(case_of(shape, (), dtype), torch.device("cpu"))
    )


COMBINATIONS = [
    *((SMALL, v) for v in (*PLAIN, V.NN_MHA)),
    *((CAUSAL, v) for v in (*PLAIN, V.NN_MHA)),
    *((GROUPED, v) for v in PLAIN if v is not V.SDPA_FLASH),
    *((DECODE, v) for v in PLAIN),
    *((DECODE_GROUPED, v) for v in PLAIN),
    *((VARLEN, v) for v in (V.NAIVE, V.SDPA, V.FUSED_QKV, V.NESTED)),
]


@pytest.mark.parametrize(
    ("shape", "variant"),
    COMBINATIONS,
    ids=lambda x: (
        x.value
        if isinstance(x, Variant)
        else f"{x.query_len}of{x.kv_len}/{x.kv_heads}/{x.causal}/{x.lengths}"
    ),
)
def test_every_way_to_write_it_agrees_with_float64(shape, variant):
    import torch

    with torch.no_grad():
        subject = workshop(shape).build(variant)
        assert 0 < subject.error() < 1e-5
        assert subject.backend() in set(Backend)


@pytest.mark.parametrize("dtype", [Dtype.BFLOAT16, Dtype.FLOAT16])
def test_narrow_numbers_are_compared_with_what_their_own_rounded_inputs_give(dtype):
    import torch

    with torch.no_grad():
        error = workshop(SMALL, dtype).build(V.SDPA).error()
    assert 1e-5 < error < dtype.tolerance


@pytest.mark.parametrize(
    "shape", [SMALL, ARTICLE.work, GROUPED, DECODE], ids=["small", "article", "grouped", "decode"]
)
def test_the_closed_form_is_what_the_profiler_counts_on_the_naive_form(shape):
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    call = workshop(shape).build(V.NAIVE).call
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    assert counter.get_total_flops() == total_flops(shape)


def test_our_reference_agrees_with_the_frameworks_own_multi_head_attention():
    import torch

    from exporter.workers.attention_material import make
    from exporter.workers.attention_variants import VARIANTS
    from exporter.workers.correctness import reference_of

    material = make(SMALL, torch.float64, torch.device("cpu"))
    with torch.no_grad():
        theirs = VARIANTS[V.NN_MHA](material)(material.x)
    torch.testing.assert_close(reference_of(material).rows, theirs.flatten(0, 1), rtol=1e-10, atol=1e-12)


def test_the_backend_is_the_one_that_the_profiler_sees():
    import torch

    from exporter.workers.subjects import _profiled

    with torch.no_grad():
        for variant in (V.SDPA, V.SDPA_MATH, V.SDPA_FLASH):
            subject = workshop(SMALL).build(variant)
            assert subject.backend() is _profiled(subject.call, variant), variant


def test_a_mask_sends_the_framework_elsewhere_and_the_label_says_so():
    import torch

    with torch.no_grad():
        assert workshop(SMALL).build(V.NN_MHA).backend() is Backend.NATIVE
        assert workshop(VARLEN).build(V.NESTED).backend() is Backend.MATH
        assert workshop(CAUSAL).build(V.SDPA_MATH).backend() is Backend.MATH


@pytest.mark.parametrize(
    ("shape", "variant"),
    [
        pytest.param(DECODE, V.NN_MHA, id="a cache in the framework's module"),
        pytest.param(GROUPED, V.NN_MHA, id="groups in the framework's module"),
        pytest.param(VARLEN, V.FLEX, id="lengths in FlexAttention"),
        pytest.param(dataclasses.replace(CAUSAL, kv_len=32), V.NAIVE, id="several new tokens after a cache"),
        pytest.param(SMALL, V.MATMUL, id="a matrix product is no attention"),
    ],
)
def test_what_is_not_written_is_refused_not_measured_as_something_else(shape, variant):
    with pytest.raises(ValueError, match=r"not written here|no caches|no way to write"):
        workshop(shape).build(variant)


def test_numbers_are_random_and_the_same_each_time():
    import torch

    from exporter.workers.attention_material import make

    one, two = (make(DECODE, torch.float32, torch.device("cpu")) for _ in range(2))
    assert torch.equal(one.x, two.x)
    assert torch.equal(one.cache[0], two.cache[0])
    assert 0.5 < one.x.std() < 1.5
    assert all(torch.equal(one.weights[name][0], two.weights[name][0]) for name in "qkvo")


@pytest.mark.slow
@pytest.mark.cc
def test_compiled_forms_are_right_and_named_after_what_they_became():
    import torch

    with torch.no_grad():
        compiled = workshop(SMALL).build(V.COMPILED)
        assert compiled.error() < 1e-5
        assert compiled.backend() in {Backend.FLASH, Backend.COMPILED}
