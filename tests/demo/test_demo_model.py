import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from exporter.demo import vocabulary
from exporter.demo.model import KvCache, Shape, Transformer
from exporter.demo.sampling import Sampling, choose

TOKENS = np.array([7, 200, 31, 256, 44, 258, 90, 12, 0, 99, 145, 61])


@pytest.fixture(scope="module")
def model() -> Transformer:
    return Transformer(Shape(context=64))


def run_in_chunks(model: Transformer, tokens: np.ndarray, sizes: list[int]) -> np.ndarray:
    cache = KvCache(model.shape, rows=1, length=len(tokens))
    states, done = [], 0
    for size in sizes:
        part = tokens[done : done + size]
        states.append(model.forward(part[None], cache, np.array([done]))[0])
        done += size
    return np.concatenate(states)


def test_the_default_model_has_about_a_million_parameters_whatever_the_context() -> None:
    default = Transformer()
    assert 1_300_000 < default.parameters < 1_500_000
    assert default.parameters - default.shape.context * default.shape.width < 1_000_000


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([1] * 12, id="a token at a time"),
        pytest.param([8, 1, 1, 1, 1], id="a prompt, then a token at a time"),
        pytest.param([5, 5, 2], id="a prompt in uneven chunks"),
    ],
)
def test_cached_steps_equal_full_recomputation(model: Transformer, sizes: list[int]) -> None:
    whole = run_in_chunks(model, TOKENS, [12])
    np.testing.assert_allclose(run_in_chunks(model, TOKENS, sizes), whole, atol=1e-4)


def test_a_state_does_not_depend_on_later_tokens(model: Transformer) -> None:
    changed = TOKENS.copy()
    changed[-1] = 3
    before, after = run_in_chunks(model, TOKENS, [12]), run_in_chunks(model, changed, [12])
    np.testing.assert_allclose(before[:-1], after[:-1], atol=1e-5)
    assert np.abs(before[-1] - after[-1]).max() > 0.1


def test_a_state_depends_on_earlier_tokens_and_on_the_position(model: Transformer) -> None:
    changed = TOKENS.copy()
    changed[0] = 3
    before, after = run_in_chunks(model, TOKENS, [12]), run_in_chunks(model, changed, [12])
    assert np.abs(before[-1] - after[-1]).max() > 0.1
    twice = run_in_chunks(model, np.array([9, 9]), [2])
    assert np.abs(twice[0] - twice[1]).max() > 0.1


def test_rows_of_a_batch_equal_the_same_sequences_alone(model: Transformer) -> None:
    prompts = [TOKENS[:3], TOKENS[:11], TOKENS[4:10]]
    pool = KvCache(model.shape, rows=4, length=64)
    for row, prompt in enumerate(prompts):
        alone = KvCache(model.shape, rows=1, length=len(prompt))
        model.forward(prompt[None], alone, np.array([0]))
        pool.copy_row(row, alone, 0, len(prompt))
    steps = np.array([[5], [6], [7]])
    together = model.forward(steps, pool, np.array([len(p) for p in prompts]))
    for prompt, step, states in zip(prompts, steps, together, strict=True):
        alone = run_in_chunks(model, np.append(prompt, step), [len(prompt) + 1])
        np.testing.assert_allclose(states[0], alone[-1], atol=1e-4)


def test_weights_are_the_same_each_time(model: Transformer) -> None:
    again = Transformer(Shape(context=64))
    np.testing.assert_array_equal(run_in_chunks(model, TOKENS, [12]), run_in_chunks(again, TOKENS, [12]))


ALL = np.ones(5, bool)
SCORES = np.array([0.0, 3.0, 1.0, 2.9, -1.0], np.float32)


def draws(sampling: Sampling, allowed: np.ndarray = ALL, count: int = 300) -> list[int]:
    rng = np.random.default_rng(sampling.seed)
    return [choose(SCORES, allowed, sampling, rng) for _ in range(count)]


@pytest.mark.parametrize("temperature", [0.0, 1e-300])
def test_a_temperature_of_nothing_is_greedy(temperature: float) -> None:
    assert set(draws(Sampling(temperature=temperature))) == {1}


def test_only_allowed_tokens_are_drawn() -> None:
    allowed = np.array([True, False, True, False, False])
    assert set(draws(Sampling(temperature=2.0), allowed)) == {0, 2}
    assert set(draws(Sampling(temperature=0.0), allowed)) == {2}


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    assert set(draws(Sampling(top_p=0.0))) == {1}
    assert set(draws(Sampling(top_p=0.8))) == {1, 3}
    assert set(draws(Sampling(top_p=1.0, temperature=2.0))) == {0, 1, 2, 3, 4}


def test_frequencies_follow_the_softmax() -> None:
    drawn = draws(Sampling(seed=1), count=4000)
    expected = np.exp(SCORES) / np.exp(SCORES).sum()
    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / 4000, expected, atol=0.03)


def test_a_seed_repeats_the_draws_and_none_does_not() -> None:
    assert draws(Sampling(seed=4)) == draws(Sampling(seed=4)) != draws(Sampling(seed=5))
    assert draws(Sampling()) != draws(Sampling())


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_may_follow_is_always_valid_text(seed: int) -> None:
    rng = np.random.default_rng(seed)
    last, tokens = -1, []
    for _ in range(60):
        last = int(rng.choice(np.flatnonzero(vocabulary.may_follow(last, may_end=False))))
        tokens.append(last)
    text = bytes(tokens).decode("utf-8", errors="ignore")
    # Only a character that is cut off by the end can be missing.
    assert len(tokens) - len(text.encode()) in {0, 1}


def test_the_end_token_comes_only_where_it_may() -> None:
    assert vocabulary.may_follow(65, may_end=True)[vocabulary.END]
    assert not vocabulary.may_follow(65, may_end=False)[vocabulary.END]
    assert not vocabulary.may_follow(0xC3, may_end=True)[vocabulary.END]


def test_a_chat_has_one_token_a_byte_and_its_markers() -> None:
    tokens = vocabulary.encode_chat([("system", "é"), ("user", "hi")])
    assert tokens == [256, 258, 0xC3, 0xA9, 257, 259, ord("h"), ord("i"), 257, 260]
    assert vocabulary.encode_prompt("\ud800") == [256, ord("?")]
