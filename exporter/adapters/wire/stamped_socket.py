"""A non-blocking TCP socket whose every read carries the time at which its bytes reached this host."""

import asyncio
import contextlib
import socket
from dataclasses import dataclass
from typing import Protocol

from exporter.adapters.wire import kernel
from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.loop import WatchingLoop

READ_BYTES = 65_536
READS_PER_TURN = 4
"""A socket that never runs dry gives way to the others after so many reads."""


@dataclass(frozen=True, slots=True)
class Record:
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


@dataclass(slots=True)
class _Read:
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
        try:
            sent = self._sock.send(self._out)
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
        drained = False
        segments: int | None = None
        while len(reads) < READS_PER_TURN and not drained:
            before_ns = self._clock.now_ns()
            try:
                data, ancillary, _, _ = self._sock.recvmsg(READ_BYTES, kernel.ANCILLARY_BYTES)
            except (BlockingIOError, InterruptedError):
                break
            except OSError as failure:
                ended, error = True, failure
                break
            if not data:
                ended = True
                break
            reads.append(_Read(before_ns, self._clock.now_ns(), data, kernel.stamp_of(ancillary)))
            self._consumed += len(data)
            seen = kernel.received(self._sock)
            if seen is None:
                drained = len(data) < READ_BYTES
            elif seen.payload_bytes == self._consumed:
                drained, segments = True, seen.segments
        self._deliver(reads, lower_ns, drained=drained, segments=segments)
        if ended and self.is_open:
            self._stop_reading()
            self._receiver.ended(error)

    def _lower_bound_ns(self) -> int:
        """Return a moment at which the socket had nothing to read, whose data are about to be read."""
        if self._watch is None:
            return self._empty_ns
        empty_ns = max(self._empty_ns, self._watch.empty_since(self._last_round))
        self._last_round = self._watch.round
        return empty_ns

    def _deliver(self, reads: list[_Read], lower_ns: int, *, drained: bool, segments: int | None) -> None:
        """Date the reads of one turn and hand them on."""
        before = self._segments
        one_each = before is not None and segments is not None and segments - before == len(reads)
        if reads:
            self._segments = segments
        records = []
        for position, read in enumerate(reads):
            at_ns = self._arrival_ns(read, lower_ns)
            kernel_stamped = at_ns is not None
            if at_ns is None:
                at_ns = read.read_ns
            earliest_ns = lower_ns
            if one_each:
                earliest_ns = at_ns if kernel_stamped else lower_ns
            elif position == 0 and self._watch is not None:
                woken_ns = self._watch.woken_ns()
                if woken_ns is not None:
                    earliest_ns = max(lower_ns, min(at_ns, woken_ns))
            records.append(Record(at_ns, earliest_ns, read.read_ns, read.data, kernel_stamped))
            if len(read.data) < READ_BYTES:
                lower_ns = max(lower_ns, read.before_ns)
        self._empty_ns = reads[-1].read_ns if drained and segments is not None else lower_ns
        for record in records:
            if self.is_open:
                self._receiver.received(record)

    def _arrival_ns(self, read: _Read, lower_ns: int) -> int | None:
        if read.stamp_ns is None:
            return None
        return self._clock.monotonic_of(read.stamp_ns, not_before_ns=lower_ns, read_ns=read.read_ns)

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            # The loop may be closed already when a connection is thrown away with it.
            with contextlib.suppress(RuntimeError):
                self._loop.remove_reader(self._sock)
