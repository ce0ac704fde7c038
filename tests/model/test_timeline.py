"""Clocks and their error spans, token counts, and what may never happen."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.answer import read_answer
from exporter.model.clocks import Measured, Timing, TokensFrom
from exporter.model.timeline import timing_of, tokens_of
from exporter.model.transcript import Fault, Transcript
from exporter.model.verdict import judge
from tests.model.streams import (
    DATA_PING,
    DONE,
    PING,
    answered,
    delta,
    event,
    piece,
    role,
    stop,
    text,
    tool_call,
    usage_event,
)


def test_a_stream_in_one_piece_has_true_ttft_bounds() -> None:
    everything = piece(300, text(), text(), text(), stop(), DONE, since_ms=299.5)
    timing = timing_of(answered(everything), read_answer(answered(everything)))
    assert timing.ttft == Measured(0.3, pytest.approx(0.0005), 0.0)
    assert timing.ttft.is_valid
    assert timing.e2e == Measured(0.3)
    assert timing.gaps == (Measured(0.0, 0.0, 0.0005),) * 2
    assert timing.tpot == Measured(0.0, 0.0, 0.00025)


def test_bounds_of_a_gap_come_from_both_ends() -> None:
    pieces = [
        piece(300, text(), text(), since_ms=290),  # the second is exact, the first may be 10 ms older
        piece(340, text(), stop(), since_ms=335),  # may be 5 ms older
        piece(350, DONE),
    ]
    timing = timing_of(answered(*pieces), read_answer(answered(*pieces)))
    first, second = timing.gaps
    assert (first.value_s, first.below_s, first.above_s) == (0.0, 0.0, pytest.approx(0.010))
    assert (second.value_s, second.below_s, second.above_s) == (
        pytest.approx(0.040),
        pytest.approx(0.005),
        0.0,
    )
    assert timing.tpot is not None
    assert (timing.tpot.value_s, timing.tpot.below_s, timing.tpot.above_s) == (
        pytest.approx(0.020),
        pytest.approx(0.0025),
        pytest.approx(0.005),
    )


def test_what_is_counted_from_sending_is_as_uncertain_as_the_sending() -> None:
    sent_late = answered(piece(300, text()), piece(400, text(), stop()), piece(410, DONE))
    sent_late = replace(sent_late, sent_by_ns=(sent_late.sent_ns or 0) + 12_000_000)
    timing = timing_of(sent_late, read_answer(sent_late))
    assert timing.ttft == Measured(0.3, pytest.approx(0.012), 0.0)
    assert timing.ttfc == timing.ttft
    assert timing.e2e == Measured(0.41, pytest.approx(0.012), 0.0)
    assert timing.gaps == (Measured(0.1),)


def body(payload: str, at_ms: float = 700, **more: object) -> Transcript:
    return answered(piece(at_ms, payload), content_type="application/json", **more)


WHOLE = (
    '{"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "hi"},'
    ' "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 7,'
    ' "completion_tokens_details": {"reasoning_tokens": 5}, "prompt_tokens_details": {"cached_tokens": 4}}}'
)


def test_a_json_answer_has_end_to_end_and_tokens_only() -> None:
    answer = read_answer(body(WHOLE))
    tokens = tokens_of(answer)
    assert timing_of(body(WHOLE), answer) == Timing(e2e=Measured(0.7))
    assert (tokens.input, tokens.output, tokens.reasoning, tokens.cached) == (9, 7, 5, 4)
    assert tokens.output_from is TokensFrom.USAGE


def test_a_json_answer_without_usage_has_no_token_count() -> None:
    answer = read_answer(body('{"choices": [{"message": {"content": "hi"}}]}'))
    assert tokens_of(answer).output is None
    assert tokens_of(answer).output_from is None


def test_input_and_cached_tokens_of_a_stream() -> None:
    answer = read_answer(answered(piece(300, text(), stop(), usage_event(1, prompt=50, cached=40), DONE)))
    tokens = tokens_of(answer)
    assert (tokens.input, tokens.cached) == (50, 40)


def test_a_clock_that_steps_back_never_gives_a_negative_time() -> None:
    pieces = [piece(-1, text()), piece(-2, text()), piece(-3, stop(), DONE)]
    timing = timing_of(answered(*pieces), read_answer(answered(*pieces)))
    assert timing.ttft == Measured(0.0)
    assert timing.gaps == (Measured(0.0),)
    assert timing.e2e == Measured(0.0)


def test_nothing_sent_has_no_clock() -> None:
    transcript = answered(status=None, sent_ns=None, fault=Fault.DNS)
    assert timing_of(transcript, read_answer(transcript)) == Timing()


EVENTS = st.sampled_from(
    [
        *(role(), text(), text("b", "stop"), delta(reasoning="t"), stop(), usage_event(3), tool_call("f")),
        *(PING, DATA_PING, DONE, event(error={"code": "x"}), "data: {bad\n\n", "da", "\n", "\r"),
    ]
)


@given(
    st.lists(st.tuples(st.floats(-5, 50), st.floats(0, 30), st.lists(EVENTS, min_size=1, max_size=4))),
    st.booleans(),
)
def test_no_clock_is_ever_negative_and_no_token_means_no_latency(reads: list, complete: bool) -> None:
    at_ms = 0.0
    pieces = []
    for step, doubt, events in reads:
        at_ms += step
        pieces.append(piece(at_ms, *events, since_ms=at_ms - doubt))
    transcript = answered(*pieces, complete=complete, fault=None if complete else Fault.CLOSED)
    answer = read_answer(transcript)
    timing = timing_of(transcript, answer)
    singles = [timing.ttft, timing.ttfc, timing.tpot, timing.e2e, *timing.gaps]
    for value in filter(None, singles):
        assert value.value_s >= 0
        assert 0 <= value.below_s <= value.value_s
        assert value.above_s >= 0
    if not answer.tokens:
        assert timing == Timing()
    else:
        assert timing.ttft is not None
        assert len(timing.gaps) == len(answer.tokens) - 1
    judge(transcript, answer, wants_stream=True, stall_timeout_s=1)
