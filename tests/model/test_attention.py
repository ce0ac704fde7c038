import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.attention import (
    AttentionShape,
    arithmetic_intensity,
    compulsory_bytes,
    core_flops,
    projection_flops,
    total_flops,
)

ARTICLE = AttentionShape(batch=4, query_len=128, kv_len=128, dim=512, heads=8, kv_heads=8)
DECODE = AttentionShape(batch=1, query_len=1, kv_len=2048, dim=1024, heads=16, kv_heads=16)


@st.composite
def shapes(draw, *, causal=None):
    kv_heads = draw(st.integers(1, 4))
    heads = kv_heads * draw(st.integers(1, 4))
    query_len = draw(st.integers(1, 64))
    return AttentionShape(
        batch=draw(st.integers(1, 8)),
        query_len=query_len,
        kv_len=query_len + draw(st.integers(0, 64)),
        dim=heads * draw(st.integers(1, 64)),
        heads=heads,
        kv_heads=kv_heads,
        causal=draw(st.booleans()) if causal is None else causal,
    )


def test_the_article_case_has_the_number_that_a_profiler_counts():
    assert total_flops(ARTICLE) == 1_207_959_552
    assert projection_flops(ARTICLE) == 8 * 4 * 128 * 512**2 == 1_073_741_824
    assert core_flops(ARTICLE) == 4 * 4 * 128 * 128 * 512


@pytest.mark.parametrize(
    ("shape", "intensity"),
    [
        pytest.param(ARTICLE, 192.0, id="the article's case is compute bound"),
        pytest.param(
            dataclasses.replace(ARTICLE, batch=1, query_len=512, kv_len=512, dim=1024), 256.0, id="prefill"
        ),
        pytest.param(DECODE, 0.5, id="decoding one token reads weights and cache"),
        pytest.param(dataclasses.replace(DECODE, batch=8), 0.9, id="decoding eight reads the weights once"),
    ],
)
def test_arithmetic_intensity_of_known_cases(shape, intensity):
    assert arithmetic_intensity(shape, 4) == pytest.approx(intensity, rel=0.02)


def test_a_decode_step_moves_weights_cache_and_its_own_token():
    weights, cache, token = 4 * 1024**2, 2 * 2048 * 1024, 2 * 1024
    assert compulsory_bytes(DECODE, 4) == 4 * (weights + cache + token)


@given(shapes())
def test_work_is_positive(shape):
    assert projection_flops(shape) > 0
    assert core_flops(shape) > 0
    assert compulsory_bytes(shape, 2) > 0


@given(shapes())
def test_half_the_width_of_a_number_is_half_the_bytes(shape):
    assert compulsory_bytes(shape, 4) == 2 * compulsory_bytes(shape, 2)


@given(shapes(), st.sampled_from(["batch", "kv_len"]))
def test_more_to_do_is_more_work(shape, size):
    more = dataclasses.replace(shape, **{size: getattr(shape, size) + 1})
    assert total_flops(more) > total_flops(shape)
    assert compulsory_bytes(more, 4) > compulsory_bytes(shape, 4)


@given(shapes(causal=True))
def test_causal_counts_each_query_against_the_keys_it_sees(shape):
    by_hand = sum(4 * shape.dim * (shape.cached_len + i + 1) for i in range(shape.query_len)) * shape.batch
    assert core_flops(shape) == by_hand
    assert core_flops(shape) <= core_flops(dataclasses.replace(shape, causal=False))


@given(shapes())
def test_grouped_queries_never_cost_more(shape):
    plain = dataclasses.replace(shape, kv_heads=shape.heads)
    assert projection_flops(shape) <= projection_flops(plain)
    assert compulsory_bytes(shape, 2) <= compulsory_bytes(plain, 2)
    assert core_flops(shape) == core_flops(plain)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        pytest.param({"batch": 0}, "at least 1", id="nothing to do"),
        pytest.param({"kv_len": 127}, "kv_len", id="fewer keys than queries"),
        pytest.param({"dim": 510}, "multiple of heads", id="heads of unequal width"),
        pytest.param({"kv_heads": 3}, "multiple of kv_heads", id="groups of unequal size"),
        pytest.param({"lengths": (128, 1)}, "one entry a sequence", id="fewer lengths than sequences"),
        pytest.param(
            {"lengths": (1, 2, 3, 4)}, "the longest is query_len", id="all shorter than the padding"
        ),
        pytest.param({"lengths": (128, 1, 1, 1), "kv_len": 256}, "no cache", id="lengths and a cache"),
    ],
)
def test_a_shape_that_no_attention_has_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(ARTICLE, **wrong)


@pytest.mark.parametrize("causal", [False, True], ids=["unmasked", "causal"])
def test_padding_is_no_work(causal):
    mixed = dataclasses.replace(ARTICLE, lengths=(128, 64, 32, 1), causal=causal)
    alone = [
        dataclasses.replace(ARTICLE, batch=1, query_len=n, kv_len=n, causal=causal) for n in mixed.lengths
    ]
    assert total_flops(mixed) == sum(map(total_flops, alone))
    assert mixed.tokens == sum(shape.tokens for shape in alone) == 225
