"""A non-blocking TCP socket whose every read carries the time at which its bytes reached this host."""

import asyncio
import contextlib
import socket
from typing import NamedTuple, Protocol

from exporter.adapters.wire import kernel
from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.loop import WatchingLoop

READ_BYTES = 65_536
READS_PER_TURN = 4
"""A socket that never runs dry gives way to the others after so many reads."""


class Record(NamedTuple):
    """What one read took: see ``Piece`` for the three times, in monotonic nanoseconds."""

    at_ns: int
    earliest_ns: int
    read_ns: int
    data: bytes
    kernel: bool
    """``at_ns`` is the kernel's stamp; else it is the time of reading."""


class Receiver(Protocol):
    """Who takes what comes in; called from the event loop and must not block."""

    def received(self, record: Record) -> None:
        """Take one read."""

    def ended(self, error: OSError | None) -> None:
        """Learn that nothing more will come: the peer closed (None) or the connection broke."""


class _Read(NamedTuple):
    before_ns: int
    read_ns: int
    data: bytes
    stamp_ns: int | None


class StampedSocket:
    """Owns a connected socket, reads it in the loop's readable callback, and closes it.

    Records go to the receiver at once, however late the rest of the program is; the receiver bounds memory by
    closing the socket.
    """

    def __init__(
        self, sock: socket.socket, loop: asyncio.AbstractEventLoop, clock: StampClock, receiver: Receiver
    ) -> None:
        self._sock = sock
        self._loop = loop
        self._clock = clock
        self._receiver = receiver
        self._watch = loop.watch if isinstance(loop, WatchingLoop) else None
        self._last_round = -1
        self._empty_ns = clock.now_ns()
        self._consumed = 0
        self._segments: int | None = 0
        self._out = bytearray()
        self._reading = True
        self.begun_ns: tuple[int, int] | None = None
        """Just before and just after the kernel took the first byte of the last write; None until it did."""
        self.flushed_ns: int | None = None
        """When the last byte written so far was taken by the kernel; None while some wait."""
        self.is_open = True
        loop.add_reader(sock, self._on_readable)

    def write(self, data: bytes) -> None:
        """Send as much as the kernel takes now and the rest as it makes room.

        A peer that stops reading may still have answered, so a failed write is not an end: the read side
        tells how the connection ended.
        """
        if not self.is_open:
            return
        self.flushed_ns = None
        was_idle = not self._out
        self._out += data
        if was_idle:
            self.begun_ns = None
            self._on_writable()

    def read_now(self) -> None:
        """Take what has arrived without waiting for the loop to say that something has."""
        if self.is_open and self._reading:
            self._on_readable()

    def close(self) -> None:
        """Close the socket; nothing is delivered any more."""
        if not self.is_open:
            return
        self.is_open = False
        self._stop_reading()
        self._loop.remove_writer(self._sock)
        self._out.clear()
        self._sock.close()

    def _on_writable(self) -> None:
        before_ns = self._clock.now_ns()
        try:
            sent = self._sock.send(self._out)
            self.begun_ns = self.begun_ns or (before_ns, self._clock.now_ns())
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self._out.clear()
            self._loop.remove_writer(self._sock)
            return
        del self._out[:sent]
        if self._out:
            self._loop.add_writer(self._sock, self._on_writable)
        else:
            self._loop.remove_writer(self._sock)
            self.flushed_ns = self._clock.now_ns()

    def _on_readable(self) -> None:
        lower_ns = self._lower_bound_ns()
        reads: list[_Read] = []
        ended = False
        error: OSError | None = None
        try:
            segments = self._take(reads)
        except (BlockingIOError, InterruptedError):
            segments = None
        except EOFError:
            segments, ended = None, True
        except OSError as failure:
            segments, ended, error = None, True, failure
        if reads:
            for record in self._date(reads, lower_ns, segments):
                if self.is_open:
                    self._receiver.received(record)
        if ended and self.is_open:
            self._stop_reading()
            self._receiver.ended(error)

    def _take(self, reads: list[_Read]) -> int | None:
        """Append what there is to read; return the count of segments so far if that was seen to be all.

        Raises EOFError at the end, BlockingIOError when nothing is there, and any other OSError.
        """
        while len(reads) < READS_PER_TURN:
            before_ns = self._clock.now_ns()
            data, ancillary, _, _ = self._sock.recvmsg(READ_BYTES, kernel.ANCILLARY_BYTES)
            if not data:
                raise EOFError
            reads.append(_Read(before_ns, self._clock.now_ns(), data, kernel.stamp_of(ancillary)))
            self._consumed += len(data)
            seen = kernel.received(self._sock)
            if seen is None:
                break
            if seen.payload_bytes == self._consumed:
                return seen.segments
        return None

    def _lower_bound_ns(self) -> int:
        """Return a moment at which the socket had nothing to read, whose data are about to be read."""
        if self._watch is None:
            return self._empty_ns
        empty_ns = max(self._empty_ns, self._watch.empty_since(self._last_round))
        self._last_round = self._watch.round
        return empty_ns

    def _date(self, reads: list[_Read], lower_ns: int, segments: int | None) -> list[Record]:
        """Say when the reads of one turn arrived, and since when at the earliest.

        ``segments`` is the count of segments after the last read, None if the socket was not seen empty then.
        As many segments as reads means one each, and then nothing arrived before the stamp.
        """
        one_each = (
            self._segments is not None and segments is not None and segments - self._segments == len(reads)
        )
        self._segments = segments
        # What woke the loop was the first of these segments.
        woken_ns = None if one_each or self._watch is None else self._watch.woken_ns()
        records = []
        for read in reads:
            at_ns = None
            if read.stamp_ns is not None:
                at_ns = self._clock.monotonic_of(read.stamp_ns, not_before_ns=lower_ns, read_ns=read.read_ns)
            earliest_ns = lower_ns
            if one_each and at_ns is not None:
                earliest_ns = at_ns
            elif woken_ns is not None and woken_ns <= (at_ns or read.read_ns):
                earliest_ns = max(lower_ns, woken_ns)
            records.append(
                Record(at_ns or read.read_ns, earliest_ns, read.read_ns, read.data, kernel=at_ns is not None)
            )
            if len(read.data) < READ_BYTES:
                lower_ns = max(lower_ns, read.before_ns)
        self._empty_ns = lower_ns if segments is None else reads[-1].read_ns
        return records

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            # The loop may be closed already when a connection is thrown away with it.
            with contextlib.suppress(RuntimeError):
                self._loop.remove_reader(self._sock)
