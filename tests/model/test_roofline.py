import dataclasses

import pytest

from exporter.kernels.cases import ARTICLE, copy, decode, matmul
from exporter.model.kernel import Dtype
from exporter.model.roofline import Bound, Ceilings, Peak, place

CEILINGS = Ceilings(device="cpu", flops_per_second={Dtype.FLOAT32: 80e9}, bytes_per_second=13e9)
DECODE = decode(1, 2, ()).work


def test_a_prefill_is_bound_by_computing_and_placed_under_the_matrix_product():
    placed = place(ARTICLE.work, Dtype.FLOAT32, 1_207_959_552 / 40e9, CEILINGS, None)
    assert (placed.bound, placed.roofline_ratio) == (Bound.COMPUTE, pytest.approx(0.5))
    assert placed.intensity == pytest.approx(192)


def test_a_decode_step_is_bound_by_memory_and_placed_under_the_copy():
    placed = place(DECODE, Dtype.FLOAT32, 33.6e6 / 6.5e9, CEILINGS, None)
    assert (placed.bound, placed.roofline_ratio) == (Bound.MEMORY, pytest.approx(0.5, rel=0.01))


@pytest.mark.parametrize(
    ("ceilings", "dtype"),
    [
        pytest.param(None, Dtype.FLOAT32, id="nothing was measured"),
        pytest.param(CEILINGS, Dtype.BFLOAT16, id="no matrix product in this format"),
        pytest.param(dataclasses.replace(CEILINGS, bytes_per_second=None), Dtype.FLOAT32, id="no copy"),
    ],
)
def test_without_both_ceilings_there_is_no_place(ceilings, dtype):
    placed = place(ARTICLE.work, dtype, 0.02, ceilings, None)
    assert (placed.bound, placed.roofline_ratio) == (None, None)
    assert placed.intensity > 0


def test_a_ceiling_is_not_placed_under_itself():
    assert place(matmul(512).work, Dtype.FLOAT32, 0.01, CEILINGS, None).roofline_ratio is None


def test_shares_of_a_peak_need_the_peak_of_that_number_format():
    peak = Peak(flops_per_second={Dtype.BFLOAT16: 1e15}, bytes_per_second=1e12, source="operator")
    half = place(matmul(1000).work, Dtype.BFLOAT16, 2e9 / 0.5e15, None, peak)
    assert half.mfu == pytest.approx(0.5)
    assert place(ARTICLE.work, Dtype.FLOAT32, 0.02, None, peak).mfu is None
    assert place(ARTICLE.work, Dtype.FLOAT32, 0.02, None, None).mbu is None
    moved = place(copy(100).work, Dtype.FLOAT32, 2 * 100 * 2**20 / 0.25e12, None, peak)
    assert (moved.mfu, moved.mbu) == (None, pytest.approx(0.25))
