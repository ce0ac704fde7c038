import pytest

from exporter.kernels.cases import ARTICLE
from exporter.kernels.suite import SUITES
from exporter.model.attention import AttentionShape
from exporter.model.kernel import Dtype, Variant
from exporter.model.work import CopyShape, MatmulShape

every_suite = pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES.keys())
on_each = pytest.mark.parametrize("device", ["cpu", "cuda:0"])


def test_the_article_is_reproduced_to_the_letter():
    shape = ARTICLE.work
    assert (shape.dim, shape.heads, shape.batch, shape.query_len, shape.kv_len) == (512, 8, 4, 128, 128)
    assert (ARTICLE.warmup, ARTICLE.repeats, shape.causal) == (5, 20, False)


@every_suite
@on_each
def test_runs_have_labels_of_their_own(suite, device):
    labels = [run.labels for run in suite.runs_on((device,))]
    assert len(labels) == len(set(labels))


@every_suite
@on_each
def test_every_number_format_that_attention_uses_has_its_ceiling_and_ceilings_come_first(suite, device):
    cases = suite.cases_on(device)
    ceilings = {case.dtype for case in cases if isinstance(case.work, MatmulShape)}
    attention = {case.dtype for case in cases if isinstance(case.work, AttentionShape)}
    assert attention <= ceilings
    assert any(isinstance(case.work, CopyShape) for case in cases)
    kinds = [isinstance(case.work, AttentionShape) for case in cases]
    assert kinds == sorted(kinds)


@every_suite
def test_what_no_cpu_has_is_not_asked_of_it(suite):
    runs = suite.runs_on(("cpu",))
    assert {Variant.SDPA_CUDNN, Variant.SDPA_EFFICIENT}.isdisjoint(run.variant for run in runs)
    assert Dtype.TF32 not in {run.case.dtype for run in runs}


@every_suite
@on_each
def test_a_case_is_killed_later_than_it_should_end_by_itself(suite, device):
    for case in suite.cases_on(device):
        assert case.deadline_s > case.budget_s > 0
        assert case.variants


@pytest.mark.parametrize(("name", "budget_s"), [("light", 10.0), ("hourly", 30.0)])
@on_each
def test_small_suites_have_small_budgets(name, budget_s, device):
    assert sum(case.budget_s for case in SUITES[name].cases_on(device)) <= 1.5 * budget_s


def test_nightly_has_every_variant_length_and_cache():
    runs = SUITES["nightly"].runs_on(("cuda:0",))
    assert {run.variant for run in runs} == set(Variant)
    assert {run.case.dtype for run in runs} == set(Dtype)
    names = {run.case.name for run in runs}
    assert {"prefill_short", "prefill_512", "prefill_2048", "prefill_8192", "prefill_2048_causal"} <= names
    assert {f"decode_b{b}_{k}k" for b in (1, 8, 32) for k in (2, 8, 32)} <= names
    assert {"decode_b8_2k_gqa", "decode_b8_2k_mqa", "varlen", "article", "article_dim1024"} <= names
