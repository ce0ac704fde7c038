"""The fast reader of plain streams says what the probes' reader says, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.load_answer import Seen, read_exactly, read_plain_stream
from exporter.model.load_plan import Api
from exporter.model.outcome import Outcome
from exporter.model.transcript import Transcript
from tests.model.cases_of_bodies import BODIES
from tests.model.cases_of_faults import DEADLINES, FAULTS, STATUSES
from tests.model.cases_of_streams import STREAMS
from tests.model.shapes_of_framing import FRAMING_SHAPES
from tests.model.shapes_of_tokens import TOKEN_SHAPES
from tests.model.streams import DONE, SENT_NS, answered, piece, role, stop, text, usage_event

SHAPES = [*TOKEN_SHAPES, *FRAMING_SHAPES]
FAULT_CASES = [*FAULTS, *DEADLINES, *STATUSES, *STREAMS, *BODIES]


def fast(transcript: Transcript) -> Seen | None:
    reads = [(p.at_ns, p.earliest_ns, p.data) for p in transcript.body]
    return read_plain_stream(reads, SENT_NS)


def exact(transcript: Transcript) -> Seen:
    return read_exactly(transcript, Api.CHAT, stream=True, stall_s=15)


def close(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one[0] - other[0]) <= 1 and other[1] - 1 <= one[1]


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.says for shape in SHAPES])
def test_a_shape_is_read_alike_or_not_at_all(shape) -> None:
    seen, true = fast(answered(*shape.pieces)), exact(answered(*shape.pieces))
    if seen is None:
        return
    assert (seen.outcome, seen.output_tokens, seen.input_tokens) == (
        true.outcome,
        true.output_tokens,
        true.input_tokens,
    )
    assert close(seen.ttft, true.ttft)
    assert close(seen.tpot, true.tpot)
    assert close(seen.e2e, true.e2e)
    assert [value for value, _ in seen.gaps] == [value for value, _ in true.gaps]


def test_most_shapes_that_end_well_are_plain() -> None:
    plain = [shape.says for shape in SHAPES if fast(answered(*shape.pieces)) is not None]
    assert len(plain) >= 8, plain


@pytest.mark.parametrize("case", FAULT_CASES, ids=[case.says for case in FAULT_CASES])
def test_nothing_that_failed_is_plain(case) -> None:
    if case.is_ is not Outcome.OK and case.came.status == 200 and case.came.fault is None and case.stream:
        assert fast(case.came) is None


@given(
    st.lists(st.text(max_size=8), min_size=1, max_size=12),
    st.lists(st.integers(1, 40), max_size=20),
    st.booleans(),
)
def test_any_text_cut_anywhere_is_read_alike(words: list[str], cuts: list[int], counted: bool) -> None:
    whole = "".join(
        [role(), *map(text, words), stop(), *([usage_event(len(words))] if counted else []), DONE]
    )
    data, pieces, at = whole.encode(), [], 300.0
    for cut in cuts:
        pieces.append(piece(at, data[:cut]))
        data, at = data[cut:], at + 10
    pieces.append(piece(at, data))
    came = answered(*(p for p in pieces if p.data))
    seen, true = fast(came), exact(came)
    if seen is not None:
        assert (seen.outcome, seen.ttft, seen.output_tokens) == (true.outcome, true.ttft, true.output_tokens)
        assert [v for v, _ in seen.gaps] == [v for v, _ in true.gaps]
    else:
        assert not any(words)


@pytest.mark.parametrize(
    ("says", "status", "body", "outcome"),
    [
        ("vectors are ok", 200, '{"data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":8}}', Outcome.OK),
        ("no vectors are not what was asked for", 200, '{"data":[]}', Outcome.INVALID_RESPONSE),
        ("an error object is an error", 200, '{"error":{"message":"x"}}', Outcome.STREAM_ERROR),
        ("not JSON is not what was asked for", 200, "<html>", Outcome.INVALID_RESPONSE),
        ("a full house is 429", 429, "{}", Outcome.RATE_LIMITED),
    ],
)
def test_embeddings(says: str, status: int, body: str, outcome: Outcome) -> None:
    came = answered(piece(10, body), status=status, content_type="application/json")
    assert read_exactly(came, Api.EMBEDDINGS, stream=False, stall_s=1).outcome is outcome
