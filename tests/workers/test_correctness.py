import pytest

from exporter.model.kernel import Variant, Verdict
from exporter.model.protocol import Measure
from tests.workers.shapes import CAUSAL, SMALL, VARLEN, V, case_of

pytestmark = pytest.mark.torch


def zero_where_nan(y):
    return y.nan_to_num(0.0)


def into_the_neighbour(y):
    return y + 0 * y.sum()


def late_rows_unwritten(y):
    y = y.clone()
    y[-1, 0] = float("nan")
    return y


@pytest.mark.parametrize(
    ("spoil", "error_is"),
    [
        pytest.param(lambda y: y * 1.001, lambda error: 1e-4 < error < 1e-2, id="off by a thousandth"),
        pytest.param(lambda y: y * float("nan"), lambda error: error is None, id="not a number"),
        pytest.param(lambda y: y / 0, lambda error: error is None, id="infinite"),
        pytest.param(lambda y: y * 0, lambda error: error == 1, id="all zero"),
        pytest.param(zero_where_nan, lambda error: error is None, id="zeros where not-a-number went in"),
        pytest.param(into_the_neighbour, lambda error: error is None, id="not-a-number in another sequence"),
        pytest.param(late_rows_unwritten, lambda error: error is None, id="a row never written"),
        pytest.param(lambda y: y.roll(1, dims=0), lambda error: error is None or error > 0.1, id="mixed up"),
    ],
)
@pytest.mark.parametrize("shape", [SMALL, CAUSAL, VARLEN], ids=["plain", "causal", "varlen"])
def test_a_wrong_result_is_caught_before_the_clock(monkeypatch, shape, spoil, error_is):
    from exporter.workers import attention_variants, group_bench

    right = attention_variants.VARIANTS[V.SDPA]
    timed = []

    def spoiled(material):
        attention = right(material)

        class Wrong:
            backend = attention.backend

            def __call__(self, x):
                return spoil(attention(x))

        return Wrong()

    monkeypatch.setitem(attention_variants.VARIANTS, V.SDPA, spoiled)
    monkeypatch.setattr(group_bench.CpuWatch, "time", lambda self, call, times: timed.append(1))
    group = group_bench.measure(Measure(case=case_of(shape, (V.SDPA,)), device="cpu", variants=(V.SDPA,)))
    (seen,) = group.seen
    assert seen.verdict is Verdict.INCORRECT
    assert error_is(seen.measurement.relative_error)
    assert timed == []
    assert group.conditions is None


def test_of_a_long_sequence_some_rows_are_compared_the_first_and_the_last_among_them():
    from exporter.workers.correctness import _spread

    assert _spread(5, 8) == [0, 1, 2, 3, 4]
    rows = _spread(8192, 128)
    assert (rows[0], rows[-1], len(rows)) == (0, 8191, 128)


@pytest.mark.parametrize("variant", [Variant.MATMUL, Variant.LINEAR])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "float8_e4m3"])
def test_ceilings_are_checked_too(variant, dtype):
    import torch

    from exporter.model.kernel import Dtype
    from exporter.model.work import MatmulShape
    from exporter.workers.subjects import Workshop

    name = Dtype(dtype)
    workshop = Workshop(case_of(MatmulShape(size=96), (variant,), name), torch.device("cpu"))
    if name in {Dtype.INT8, Dtype.FLOAT8} and variant is Variant.MATMUL:
        with pytest.raises(ValueError, match="layout of linear only"):
            workshop.build(variant)
    else:
        with torch.no_grad():
            assert workshop.build(variant).error() <= name.tolerance


def test_a_copy_that_leaves_a_place_out_is_caught(monkeypatch):
    import torch

    from exporter.model.work import CopyShape
    from exporter.workers.ceilings import build

    right = torch.Tensor.copy_

    def lazy(target, source):
        right(target[:-1], source[:-1])
        return target

    _call, error = build(CopyShape(copied_bytes=4096), Variant.COPY, None, None, torch.device("cpu"))
    assert error() == 0
    monkeypatch.setattr(torch.Tensor, "copy_", lazy)
    assert error() is None
