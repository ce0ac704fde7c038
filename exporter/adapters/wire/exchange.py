"""One request and its response on a connection that is there."""

import asyncio

from exporter.adapters.wire.connection import Connection
from exporter.adapters.wire.draft import Draft
from exporter.adapters.wire.faults import WireError, reason
from exporter.adapters.wire.http1 import ResponseParser
from exporter.adapters.wire.stamped_socket import Record
from exporter.model.transcript import Fault, Piece

DRAIN_S = 1.0
"""How long after ``[DONE]`` the end of the message is waited for, so that the connection can be kept."""
_READ_COST_BYTES = 256
_DONE_LINES = (b"\ndata: [DONE]", b"\ndata:[DONE]", b"\rdata: [DONE]")
_LONGEST_DONE_LINE = max(len(line) for line in _DONE_LINES)


class Exchange:
    """Receives a response into the draft; ``over`` is done when no more of it is awaited."""

    def __init__(self, loop: asyncio.AbstractEventLoop, draft: Draft, max_bytes: int) -> None:
        self.over: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._draft = draft
        self._parser = ResponseParser()
        self._budget_bytes = max_bytes
        self._max_bytes = max_bytes
        self._tail = b"\n"
        self._drain: asyncio.TimerHandle | None = None

    @property
    def reusable(self) -> bool:
        """The response ended as a message and the server keeps the connection open."""
        return self._parser.complete and self._parser.reusable

    def received(self, record: Record) -> None:
        """Take one read."""
        if self.over.done():
            # More after the end: whoever closes the exchange finds the connection not reusable.
            self._parser.reusable = False
            return
        self._draft.note_read(record)
        self._budget_bytes -= len(record.data) + _READ_COST_BYTES
        error: WireError | None = None
        if self._budget_bytes < 0:
            error = WireError(Fault.TOO_LARGE, f"the response takes more than {self._max_bytes} bytes")
        else:
            try:
                self._parser.feed(record.data)
            except WireError as failure:
                error = failure
        self._note(record, self._parser.take_body())
        if error is not None or self._parser.complete:
            self._end(error)

    def _note(self, record: Record, body: bytes) -> None:
        """Enter what a read brought; also one that turned out to be bad further on."""
        draft, parser = self._draft, self._parser
        if draft.headers_ns is None and parser.headers_complete:
            draft.headers_ns = record.at_ns
            draft.status = parser.status
            draft.http_version = parser.version
            draft.headers = tuple(parser.headers)
        if body:
            draft.note_piece(Piece(record.at_ns, record.earliest_ns, record.read_ns, body))
        if parser.complete:
            draft.complete_ns = record.at_ns
        elif body and self._drain is None:
            self._watch_for_done(body)

    def ended(self, error: OSError | None) -> None:
        """Learn that the connection gives nothing more."""
        if self.over.done():
            return
        if error is None and self._parser.end():
            self._draft.complete_ns = (
                self._draft.body[-1].at_ns if self._draft.body else self._draft.headers_ns
            )
            self._end(None)
        elif self._drain is not None:
            self._end(None)
        else:
            where = "in the response" if self._draft.reads else "before any response"
            cause = "the server closed the connection" if error is None else reason(error)
            self._end(WireError(Fault.CLOSED, f"{cause} {where}"))

    def stop_waiting(self) -> None:
        """Forget the timer; the exchange is given up."""
        if self._drain is not None:
            self._drain.cancel()

    def _watch_for_done(self, body: bytes) -> None:
        """Start the drain once the stream's last event is there.

        Within JSON a line break is escaped, so a line that begins with it is the event itself.
        """
        window = self._tail + body
        if b"[DONE]" in window and any(line in window for line in _DONE_LINES):
            self._draft.answered = True
            self._drain = self._loop.call_later(DRAIN_S, self._end, None)
        self._tail = window[-_LONGEST_DONE_LINE:]

    def _end(self, error: WireError | None) -> None:
        if self._drain is not None:
            self._drain.cancel()
        if self.over.done():
            return
        if error is None:
            self.over.set_result(None)
        else:
            self.over.set_exception(error)


async def carry(connection: Connection, request: bytes, draft: Draft, max_bytes: int, now_ns: int) -> bool:
    """Send the request and receive the response; True when the connection may be kept.

    ``now_ns`` becomes the time of sending where not a byte can be sent.  Raises WireError.
    """
    exchange = Exchange(asyncio.get_running_loop(), draft, max_bytes)
    connection.lend(exchange)
    draft.sent_ns = now_ns
    try:
        connection.write(request)
        await exchange.over
    finally:
        exchange.stop_waiting()
        if connection.begun_ns is not None:
            draft.sent_ns, draft.sent_by_ns = connection.begun_ns
        draft.send_done_ns = connection.flushed_ns
    return exchange.reusable and connection.usable and connection.flushed_ns is not None
