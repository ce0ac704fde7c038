"""Server-sent events out of stamped pieces, in time linear in the bytes, whatever the split.

Follows the WHATWG event-stream grammar: CRLF, CR and LF end a line (a CRLF may lie across two pieces), a
leading byte-order mark and comments are dropped, several ``data`` lines are joined by LF, an event without
a ``data`` line is none.  One departure: an event that lacks its closing blank line counts when the HTTP
message was complete, because servers that forget the last newline do send it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from exporter.model.transcript import Piece

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DATA = b"data: "


@dataclass(frozen=True, slots=True)
class Event:
    """One event and when the byte that completed it arrived: within [earliest_ns, at_ns].

    The two are equal when it was the last thing in its piece.  Where anything but line ends follows in the
    same piece (another event, part of one, a comment), the piece's stamp may belong to that.
    """

    name: str
    """The ``event`` field; empty for the usual unnamed event."""
    data: bytes
    at_ns: int
    earliest_ns: int
    is_terminated: bool = True
    """False for one that the end of the message left without its blank line."""


class Splitter:
    """Turns pieces into events as they come; one instance a stream."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._name = b""
        self._after_cr = False
        self._at_start = True
        self._last: Piece | None = None

    def feed(self, piece: Piece) -> tuple[Event, ...]:
        """Return the events that this piece completes, in order."""
        data = piece.data
        if not data:
            return ()
        if self._is_between_events and _is_one_plain_event(data):
            # What almost every piece is; the general way takes four times as long.
            self._last = piece
            return (Event("", data[len(_DATA) : -2], piece.at_ns, piece.at_ns),)
        start = 1 if self._after_cr and data[0] == 0x0A else 0
        self._after_cr = data[-1] == 0x0D
        self._last = piece
        complete: list[tuple[str, bytes]] = []
        end = 0
        for match in _LINE_END.finditer(data, start):
            line = self._finish_line(data[start : match.start()])
            start = match.end()
            if line:
                self._field(line)
            elif (event := self._dispatch()) is not None:
                complete.append(event)
                end = start
        if start < len(data):
            self._line.append(data[start:])
        if not complete:
            return ()
        is_last_thing = not data[end:].strip(b"\r\n")
        *earlier, last = complete
        return (
            *(Event(name, text, piece.at_ns, piece.earliest_ns) for name, text in earlier),
            Event(*last, piece.at_ns, piece.at_ns if is_last_thing else piece.earliest_ns),
        )

    def finish(self) -> Event | None:
        """Return the event left without its blank line at the end of a *complete* message, or None."""
        line = self._finish_line(b"")
        if line:
            self._field(line)
        event = self._dispatch()
        if event is None or self._last is None:
            return None
        return Event(*event, self._last.at_ns, self._last.at_ns, is_terminated=False)

    @property
    def _is_between_events(self) -> bool:
        return not (self._line or self._data or self._name or self._after_cr or self._at_start)

    def _finish_line(self, tail: bytes) -> bytes:
        if self._line:
            self._line.append(tail)
            tail = b"".join(self._line)
            self._line.clear()
        if self._at_start:
            self._at_start = False
            tail = tail.removeprefix(_BYTE_ORDER_MARK)
        return tail

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._name = value.removeprefix(b" ")

    def _dispatch(self) -> tuple[str, bytes] | None:
        event = (self._name.decode(errors="replace"), b"\n".join(self._data)) if self._data else None
        self._data.clear()
        self._name = b""
        return event


def _is_one_plain_event(data: bytes) -> bool:
    """Tell whether this is one ``data: `` line and its blank line, whole, with LF for line ends."""
    return data.startswith(_DATA) and data.endswith(b"\n\n") and data.count(b"\n") == 2 and b"\r" not in data


def split(pieces: Iterable[Piece], *, is_complete: bool) -> tuple[Event, ...]:
    """Return every event of a stream; ``is_complete`` tells whether the HTTP message ended by itself."""
    splitter = Splitter()
    events = [event for piece in pieces for event in splitter.feed(piece)]
    if is_complete and (last := splitter.finish()) is not None:
        events.append(last)
    return tuple(events)
