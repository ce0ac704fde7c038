"""Hold each clock of a probe against what the server itself wrote down about the same request."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from benchmarks.truth import TrueRequest
from exporter.model.answer import read_answer
from exporter.model.clocks import Measured, Timing
from exporter.model.results import ProbeResult
from exporter.model.timeline import timing_of
from exporter.model.transcript import Transcript

_SEQUENCE = re.compile(rb'"id":"chatcmpl-(\d+)"')


@dataclass(frozen=True, slots=True)
class Sample:
    """One clock of one request; errors in seconds, reported minus true."""

    clock: str
    error_s: float
    valid: bool
    reading_error_s: float
    """Error of a client that stamps when it reads, everything else being equal."""


@dataclass(frozen=True, slots=True)
class Observed:
    """One probe as the product saw it, and the transcript that it was judged by."""

    result: ProbeResult
    transcript: Transcript

    @property
    def sequence(self) -> int | None:
        """The number by which the server's log knows this request."""
        found = _SEQUENCE.search(self.transcript.content)
        return int(found[1]) if found else None


def by_reading_time(transcript: Transcript) -> Transcript:
    """Return the transcript that a client without kernel stamps would have."""
    pieces = tuple(
        replace(piece, at_ns=piece.read_ns, earliest_ns=piece.read_ns) for piece in transcript.body
    )
    return replace(transcript, body=pieces)


def samples(observed: Iterable[Observed], truth: Iterable[TrueRequest]) -> Iterator[Sample]:
    """Yield the error of TTFT, of end to end and of each gap.

    Raises KeyError or ValueError where a request has no counterpart or other chunks than the server wrote.
    """
    of_sequence: dict[int | None, TrueRequest] = {true.sequence: true for true in truth}
    for seen in observed:
        reading = timing_of(by_reading_time(seen.transcript), read_answer(by_reading_time(seen.transcript)))
        yield from _compare(seen.result.timing, reading, of_sequence[seen.sequence])


def sending_delays_s(observed: Iterable[Observed], truth: Iterable[TrueRequest]) -> list[float]:
    """Return first byte sent to whole request received, in seconds: the part of each error spent outbound."""
    of_sequence: dict[int | None, TrueRequest] = {true.sequence: true for true in truth}
    return [
        (of_sequence[seen.sequence].received_ns - seen.transcript.sent_ns) / 1e9
        for seen in observed
        if seen.transcript.sent_ns is not None
    ]


def _compare(timing: Timing, reading: Timing, true: TrueRequest) -> Iterator[Sample]:
    if true.first_ns is None or true.done_ns is None:
        raise ValueError(f"request {true.sequence} has no token in the server's log")
    yield _sample("ttft", timing.ttft, reading.ttft, true.first_ns - true.received_ns)
    yield _sample("e2e", timing.e2e, reading.e2e, true.done_ns - true.received_ns)
    for gap, read_gap, true_gap in zip(timing.gaps, reading.gaps, true.gaps_ns, strict=True):
        yield _sample("gap", gap, read_gap, true_gap)


def _sample(clock: str, measured: Measured | None, reading: Measured | None, true_ns: int) -> Sample:
    if measured is None or reading is None:
        raise ValueError(f"a request that went well has no {clock}")
    true_s = true_ns / 1e9
    return Sample(clock, measured.value_s - true_s, measured.is_valid, reading.value_s - true_s)
