"""Every stream shape has its true clocks."""

import pytest

from exporter.model.answer import read_answer
from exporter.model.clocks import Measured
from exporter.model.timeline import timing_of, tokens_of
from exporter.model.verdict import judge
from tests.model.shapes import Shape
from tests.model.shapes_of_framing import FRAMING_SHAPES
from tests.model.shapes_of_tokens import TOKEN_SHAPES
from tests.model.streams import answered

SHAPES = [*TOKEN_SHAPES, *FRAMING_SHAPES]


def in_ms(value: Measured | None) -> float | None:
    return None if value is None else pytest.approx(value.value_s * 1000, abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.says for shape in SHAPES])
def test_stream_shapes(shape: Shape) -> None:
    transcript = answered(*shape.pieces)
    answer = read_answer(transcript)
    timing = timing_of(transcript, answer)
    tokens = tokens_of(answer)
    verdict = judge(transcript, answer, wants_stream=True, stall_timeout_s=15)
    assert verdict.outcome is shape.outcome, verdict.detail
    assert in_ms(timing.ttft) == shape.ttft
    assert in_ms(timing.ttfc) == shape.ttfc
    assert [in_ms(gap) for gap in timing.gaps] == shape.gaps
    assert in_ms(timing.tpot) == shape.tpot
    assert in_ms(timing.e2e) == shape.e2e
    assert (tokens.output, tokens.output_from) == (shape.output, shape.counted_by)
