"""The event splitter: the same events whatever the split, and true stamps on them."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.sse import Event, split
from exporter.model.transcript import Piece

GRAMMAR = [
    ("LF ends lines", b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
    ("CRLF ends lines", b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
    ("CR ends lines", b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
    ("mixed line ends", b"data: a\r\n\ndata: b\n\r\n", [("", b"a"), ("", b"b")]),
    ("a byte-order mark leads", b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
    ("a second mark is no field of ours", b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("", b"a")]),
    ("comments alone are nothing", b": ping\n\n: OPENROUTER PROCESSING\n\n", []),
    ("a comment inside an event", b"data: a\n: ping\ndata: b\n\n", [("", b"a\nb")]),
    ("several data lines", b"data: {\ndata: }\n\n", [("", b"{\n}")]),
    ("several data lines under CRLF", b"data: {\r\ndata: }\r\n\r\n", [("", b"{\n}")]),
    ("no space after the colon", b"data:a\n\n", [("", b"a")]),
    ("one space only is dropped", b"data:  a\n\n", [("", b" a")]),
    ("a name comes before the data", b"event: error\ndata: x\n\n", [("error", b"x")]),
    ("a name comes after the data", b"data: x\nevent: error\n\n", [("error", b"x")]),
    ("a name without data is no event and does not stick", b"event: e\n\ndata: x\n\n", [("", b"x")]),
    ("id and retry are ignored", b"id: 7\nretry: 10\ndata: x\n\n", [("", b"x")]),
    ("a field without a colon", b"data\n\n", [("", b"")]),
    ("colons in the value", b"data: a: b\n\n", [("", b"a: b")]),
    ("a keep-alive in data's clothing", b"data: : keepalive\n\n", [("", b": keepalive")]),
    ("the last blank line is missing", b"data: a\n\ndata: [DONE]\n", [("", b"a"), ("", b"[DONE]")]),
    ("the last newline is missing", b"data: a\n\ndata: [DONE]", [("", b"a"), ("", b"[DONE]")]),
    ("blank lines between events", b"\n\n\r\ndata: a\n\n\n\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
    ("nothing at all", b"", []),
]
IDS = [row[0] for row in GRAMMAR]


def cut(stream: bytes, offsets: list[int]) -> list[Piece]:
    bounds = [0, *sorted(offsets), len(stream)]
    spans = itertools.pairwise(bounds)
    return [Piece(1000 * i, 1000 * i - 500, 1000 * i, stream[a:b]) for i, (a, b) in enumerate(spans, start=1)]


def plain(events: tuple[Event, ...]) -> list[tuple[str, bytes]]:
    return [(event.name, event.data) for event in events]


@pytest.mark.parametrize(("_", "stream", "expected"), GRAMMAR, ids=IDS)
def test_grammar(_: str, stream: bytes, expected: list[tuple[str, bytes]]) -> None:
    assert plain(split(cut(stream, []), is_complete=True)) == expected


@pytest.mark.parametrize(("_", "stream", "expected"), GRAMMAR, ids=IDS)
def test_a_split_at_any_byte_changes_nothing(_: str, stream: bytes, expected: list) -> None:
    for offset in range(len(stream) + 1):
        assert plain(split(cut(stream, [offset]), is_complete=True)) == expected, offset


@pytest.mark.parametrize(("_", "stream", "expected"), GRAMMAR, ids=IDS)
def test_byte_by_byte_changes_nothing(_: str, stream: bytes, expected: list) -> None:
    assert plain(split(cut(stream, list(range(len(stream)))), is_complete=True)) == expected


LINES = st.sampled_from(
    [b"data: a", b"data:", b"data: \xc3\xa9", b": c", b"event: error", b"", b"id: 1", b"\xef\xbb\xbfdata: z"]
)


@given(
    lines=st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12),
    data=st.data(),
    is_complete=st.booleans(),
)
def test_any_split_gives_the_same_events(lines: list, data: st.DataObject, is_complete: bool) -> None:
    stream = b"".join(line + end for line, end in lines)
    offsets = data.draw(st.lists(st.integers(0, len(stream)), max_size=6))
    whole = split(cut(stream, []), is_complete=is_complete)
    parts = split(cut(stream, offsets), is_complete=is_complete)
    assert plain(parts) == plain(whole)
    assert all(a.at_ns <= b.at_ns for a, b in itertools.pairwise(parts))
    assert all(event.earliest_ns <= event.at_ns for event in parts)


def test_without_the_message_end_an_unfinished_event_is_not_one() -> None:
    assert plain(split(cut(b"data: a\n\ndata: b\n", []), is_complete=False)) == [("", b"a")]


STAMPS = [
    ("the last event of a read is exact", [b"data: a\n\ndata: b\n\n"], [(10, 5), (10, 10)]),
    ("one event a read is exact", [b"data: a\n\n", b"data: b\n\n"], [(10, 10), (20, 20)]),
    ("the read that completes it stamps it", [b"data: a\n", b"\n"], [(20, 20)]),
    ("a read that begins the next is not", [b"data: a\n\nda", b"ta: b\n\n"], [(10, 5), (20, 20)]),
    ("nor one with a later comment", [b"data: a\n\n: ping\n\n"], [(10, 5)]),
    ("line ends after it move nothing", [b"data: a\r\n\r\n\r\n"], [(10, 10)]),
    ("the LF of a split CRLF moves nothing", [b"data: a\r\n\r", b"\n"], [(10, 10)]),
    ("three at once: two in doubt", [b"data: a\n\n" * 3], [(10, 5), (10, 5), (10, 10)]),
    ("the unfinished last is exact", [b"data: a\n\n", b"data: b"], [(10, 10), (20, 20)]),
    ("an empty read is no stamp", [b"data: a", b""], [(10, 10)]),
]


@pytest.mark.parametrize(("_", "reads", "expected"), STAMPS, ids=[row[0] for row in STAMPS])
def test_stamps(_: str, reads: list[bytes], expected: list[tuple[int, int]]) -> None:
    pieces = [Piece(10 * i, 10 * i - 5, 10 * i, data) for i, data in enumerate(reads, start=1)]
    events = split(pieces, is_complete=True)
    assert [(event.at_ns, event.earliest_ns) for event in events] == expected


def cpu_seconds_for(stream: bytes, size: int) -> float:
    pieces = [Piece(i, i, i, stream[i : i + size]) for i in range(0, len(stream), size)]
    begin = time.process_time()
    (event,) = split(pieces, is_complete=True)
    assert len(event.data) == len(stream) - 8
    return time.process_time() - begin


@pytest.mark.parametrize(("size", "length"), [(1, 200_000), (100, 1_000_000), (65536, 1_000_000)])
def test_a_large_event_takes_linear_time(size: int, length: int) -> None:
    """Eight times the bytes; quadratic work would take 64 times as long."""
    small = b"data: " + b"x" * (length // 8) + b"\n\n"
    large = b"data: " + b"x" * length + b"\n\n"
    fastest_small = min(cpu_seconds_for(small, size) for _ in range(5))
    fastest_large = min(cpu_seconds_for(large, size) for _ in range(3))
    assert fastest_large < 30 * max(fastest_small, 1e-4)
