"""One stream shape with its true clocks, in ms after the request was sent."""

from dataclasses import dataclass

from exporter.model.clocks import TokensFrom
from exporter.model.outcome import Outcome
from exporter.model.transcript import Piece
from tests.model.streams import DONE, delta, piece, stop, usage_event


@dataclass(frozen=True, kw_only=True)
class Shape:
    says: str
    pieces: list[Piece]
    ttft: float | None = 300.0
    ttfc: float | None = 300.0
    gaps: list[float]
    tpot: float | None = 20.0
    e2e: float | None
    output: int | None
    counted_by: TokensFrom | None = TokensFrom.USAGE
    outcome: Outcome = Outcome.OK


def tail(at_ms: float, output: int, **more: int) -> list[Piece]:
    return [piece(at_ms, stop(), usage_event(output, **more), DONE)]


def reasoning(at_ms: float, **field: object) -> Piece:
    return piece(at_ms, delta(**field))


EVERY_20 = [20.0] * 3
