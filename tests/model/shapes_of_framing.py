"""Shapes that differ in framing, keep-alives and how they end."""

from exporter.model.clocks import TokensFrom
from exporter.model.outcome import Outcome
from tests.model.shapes import EVERY_20, Shape, tail
from tests.model.streams import DATA_PING, DONE, PING, piece, role, stop, text, texts, usage_event

OPENROUTER = ": OPENROUTER PROCESSING\n\n"
BIG = text("x" * 1_000_000)

FRAMING_SHAPES = [
    Shape(
        says="comments, data keep-alives and pings of all kinds move nothing",
        pieces=[
            piece(1, OPENROUTER),
            piece(100, PING),
            piece(200, DATA_PING),
            piece(250, 'event: ping\ndata: {"type": "ping"}\n\n', "data:\n\n"),
            piece(300, text()),
            piece(305, PING),
            piece(310, DATA_PING),
            piece(315, OPENROUTER),
            *texts(320, 20, 3),
            *tail(361, 4),
        ],
        gaps=EVERY_20,
        e2e=361,
        output=4,
    ),
    Shape(
        says="CRLF framing with comments",
        pieces=[
            piece(at, (PING + body).replace("\n", "\r\n"))
            for at, body in [(0, role()), (300, text()), (320, text()), (340, stop()), (341, DONE)]
        ],
        gaps=[20.0],
        e2e=341,
        output=2,
        counted_by=TokensFrom.CHUNKS,
    ),
    Shape(
        says="a one-token reply has a TTFT and no time per token",
        pieces=[piece(300, text()), *tail(400, 1)],
        gaps=[],
        tpot=None,
        e2e=400,
        output=1,
    ),
    Shape(
        says="one chunk of many tokens has no time per token",
        pieces=[piece(300, text("a b c d")), *tail(400, 4)],
        gaps=[],
        tpot=None,
        e2e=400,
        output=4,
    ),
    Shape(
        says="a finish_reason in the same chunk as text is a token",
        pieces=[piece(300, text()), piece(320, text("b", "stop")), piece(321, DONE)],
        gaps=[20.0],
        e2e=321,
        output=2,
        counted_by=TokensFrom.CHUNKS,
    ),
    Shape(
        says="an event of 1 MB over many reads is stamped by the last",
        pieces=[
            *(piece(200 + i, BIG[i * 10_000 : (i + 1) * 10_000]) for i in range(100)),
            piece(300, BIG[1_000_000:]),
            piece(320, text()),
            piece(321, stop(), DONE),
        ],
        gaps=[20.0],
        e2e=321,
        output=2,
        counted_by=TokensFrom.CHUNKS,
    ),
    Shape(
        says="a finish_reason without [DONE]: E2E at the end of the message",
        pieces=[*texts(300, 20, 4), piece(380, stop())],
        gaps=EVERY_20,
        e2e=380,
        output=4,
        counted_by=TokensFrom.CHUNKS,
    ),
    Shape(
        says="[DONE] without a last newline",
        pieces=[*texts(300, 20, 4), piece(380, "data: [DONE]")],
        gaps=EVERY_20,
        e2e=380,
        output=4,
        counted_by=TokensFrom.CHUNKS,
    ),
    Shape(
        says="nothing after [DONE] is read",
        pieces=[*texts(300, 20, 4), piece(380, DONE), piece(500, text(), "data: {bad\n\n")],
        gaps=EVERY_20,
        e2e=380,
        output=4,
        counted_by=TokensFrom.CHUNKS,
    ),
    Shape(
        says="a proper end without a token has no latency",
        pieces=[piece(1, role()), piece(300, stop()), piece(301, usage_event(0), DONE)],
        ttft=None,
        ttfc=None,
        gaps=[],
        tpot=None,
        e2e=None,
        output=0,
        outcome=Outcome.EMPTY,
    ),
    Shape(
        says="[DONE] alone has no latency",
        pieces=[piece(1, DONE)],
        ttft=None,
        ttfc=None,
        gaps=[],
        tpot=None,
        e2e=None,
        output=None,
        counted_by=None,
        outcome=Outcome.EMPTY,
    ),
    Shape(
        says="a clean truncation keeps the clocks it had and is a failure",
        pieces=texts(300, 20, 4),
        gaps=EVERY_20,
        e2e=360,
        output=4,
        counted_by=TokensFrom.CHUNKS,
        outcome=Outcome.STREAM_TRUNCATED,
    ),
]
