"""The prompt of each request: rotation, nonce, and a length in the server's own tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from exporter.model.clocks import Tokens
from exporter.probes.prompt import Lengths, Prompting, prompt_of
from tests.probes.specs import spec, target


def now(params: Prompting, unix_s: float = 0.0, nonce: str = "n", lengths: Lengths | None = None) -> str:
    return prompt_of(params, target(), spec(), unix_s=unix_s, nonce=nonce, lengths=lengths or Lengths())


def test_every_slot_takes_the_next_prompt() -> None:
    params = Prompting(prompts=("a", "b", "c"))
    assert [now(params, unix_s=15.0 * slot + 3) for slot in range(5)] == ["a", "b", "c", "a", "b"]


def test_a_nonce_stands_in_front() -> None:
    assert now(Prompting(prompt="hi", nonce=True), nonce="k7") == "[k7] hi"
    assert now(Prompting(prompt="hi"), nonce="k7") == "hi"


@given(
    wanted=st.integers(20, 50_000),
    overhead=st.integers(0, 15),
    per_word=st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]),
)
def test_the_length_is_right_from_the_third_request_on(wanted: int, overhead: int, per_word: float) -> None:
    lengths, where, probe = Lengths(), target(), spec()
    counted = 0
    for _ in range(4):
        words = lengths.words(where, probe, wanted)
        counted = overhead + round(words * per_word)
        lengths.learn(where, probe, Tokens(input=counted))
    assert abs(counted - wanted) <= max(per_word, 1)


def test_a_server_that_counts_nothing_teaches_nothing() -> None:
    lengths = Lengths()
    for tokens in (Tokens(), Tokens(input=0)):
        assert lengths.words(target(), spec(), 50) == 50
        lengths.learn(target(), spec(), tokens)
    assert lengths.words(target(), spec(), 50) == 50


def test_two_ways_to_say_the_prompt_are_refused() -> None:
    with pytest.raises(ValidationError, match="both given"):
        Prompting(prompt="a", prompts=("b", "c"))
    with pytest.raises(ValidationError, match="at least 2"):
        Prompting(prompts=("b",))
