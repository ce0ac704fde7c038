"""One connection of a load worker: a request at a time, every read stamped, nothing parsed but HTTP."""

import os
import socket
import ssl
import struct
from collections.abc import Sequence
from time import monotonic_ns
from typing import Protocol

from exporter.adapters.wire import kernel
from exporter.adapters.wire.errand import Errand
from exporter.adapters.wire.faults import WireError, reason
from exporter.adapters.wire.http1 import ResponseParser
from exporter.adapters.wire.poller import READABLE, WRITABLE, Poller
from exporter.adapters.wire.resolve import AddressInfo
from exporter.adapters.wire.tls import TlsStream
from exporter.model.transcript import Fault

READ_BYTES = 32_768
DRAIN_NS = 1_000_000_000
MAX_RESPONSE_BYTES = 32 * 1024 * 1024
_READ_COST_BYTES = 256
_timespec = struct.Struct("@ll").unpack_from


class Owner(Protocol):
    """Who is told about a lane; may give it the next errand at once."""

    def finished(self, lane: "Lane", errand: Errand) -> None:
        """Take an errand that is over; the lane is idle, or closed where it cannot be used again."""


class Lane:
    """A connection to one endpoint, opened by its first errand."""

    def __init__(
        self,
        poller: Poller,
        owner: Owner,
        addresses: Sequence[AddressInfo],
        context: ssl.SSLContext | None,
        server_name: str,
    ) -> None:
        self._poller = poller
        self._owner = owner
        self._addresses = addresses
        self._context = context
        self._name = server_name
        self._tried = 0
        self._sock: socket.socket | None = None
        self._tls: TlsStream | None = None
        self._up = False
        self._parser = ResponseParser()
        self._errand: Errand | None = None
        self._out = b""
        self._blocked = False
        self._round = -1
        self._empty_ns = 0
        self.fd = -1

    @property
    def errand(self) -> Errand | None:
        """What the lane is busy with; None while it is idle."""
        return self._errand

    @property
    def is_open(self) -> bool:
        """Tell whether there is a connection, or one is being made."""
        return self._sock is not None

    def run(self, errand: Errand) -> None:
        """Carry out an errand on this idle lane; the owner hears when it is over."""
        self._errand = errand
        errand.started_ns = monotonic_ns()
        if self._up:
            errand.reused = True
            self._send(errand)
        else:
            self._connect()

    def close(self) -> None:
        """Close the connection."""
        sock, self._sock = self._sock, None
        if sock is not None:
            self._poller.forget(self.fd)
            sock.close()
        self._up = False

    def give_up(self, fault: Fault, detail: str) -> None:
        """End the errand and the connection."""
        self.close()
        self._over(fault, detail)

    def check(self, now_ns: int, timeout_ns: int) -> None:
        """End an errand that is past its deadline, or whose stream is done though its message is not."""
        errand = self._errand
        if errand is None:
            return
        if errand.reads:
            at_ns, _, data = errand.reads[-1]
            if now_ns - at_ns > DRAIN_NS and data.endswith(b"data: [DONE]\n\n"):
                self.close()
                self._over(None, "")
                return
        if now_ns - errand.started_ns > timeout_ns:
            self.give_up(Fault.DEADLINE, f"not over after {timeout_ns / 1e9:g} s")

    def ready(self, mask: int) -> None:
        """Do what the socket is ready for."""
        if mask & ~WRITABLE and self._up:
            self._read()
        elif self._sock is not None and not self._up:
            self._progress(mask)
        if mask & WRITABLE and self._out and self._up:
            self._flush()

    def _connect(self) -> None:
        while self._tried < len(self._addresses):
            family, kind, proto, _, address = self._addresses[self._tried]
            sock = socket.socket(family, kind, proto)
            sock.setblocking(False)
            kernel.ask_for_stamps(sock)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect_ex(address)
            self._sock, self.fd = sock, sock.fileno()
            self._poller.watch(self.fd, WRITABLE, self.ready)
            return
        self._tried = 0
        self._over(Fault.CONNECT, self._errand.detail if self._errand else "")

    def _progress(self, mask: int) -> None:
        """Go on with a connection that is being made."""
        errand, sock = self._errand, self._sock
        if errand is None or sock is None:
            return
        if errand.connected_ns is None:
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                self.close()
                errand.detail = f"cannot connect: {os.strerror(error)}"
                self._tried += 1
                self._connect()
                return
            errand.connected_ns = monotonic_ns()
            self._tried = 0
            self._poller.change(self.fd, READABLE)
            if self._context is None:
                self._is_up(errand)
                return
        try:
            self._shake_hands(errand, sock, mask)
        except ssl.SSLCertVerificationError as error:
            self.give_up(Fault.TLS, f"certificate not accepted: {error.verify_message}")
        except (OSError, ValueError) as error:
            self.give_up(Fault.TLS, f"TLS failed: {reason(error)}")

    def _shake_hands(self, errand: Errand, sock: socket.socket, mask: int) -> None:
        """Advance the TLS handshake; its messages are small, the kernel takes them at once."""
        if self._tls is None:
            if self._context is None:
                return
            self._tls = TlsStream(self._context, self._name)
            sock.send(self._tls.start())
            return
        if mask & ~WRITABLE:
            data = sock.recv(READ_BYTES)
            if not data:
                raise ConnectionError("the server closed the connection in the TLS handshake")
            _, answer = self._tls.feed(data)
            if answer:
                sock.send(answer)
            if self._tls.ready:
                errand.tls_ns = monotonic_ns()
                self._is_up(errand)

    def _is_up(self, errand: Errand) -> None:
        self._up = True
        self._send(errand)

    def _send(self, errand: Errand) -> None:
        self._parser.reset()
        payload = errand.payload if self._tls is None else self._tls.encrypt(errand.payload)
        errand.sent_ns = monotonic_ns()
        self._empty_ns = errand.sent_ns
        self._out = payload
        self._flush()
        errand.sending_ns = monotonic_ns() - errand.sent_ns

    def _flush(self) -> None:
        if self._sock is None:
            return
        try:
            sent = self._sock.send(self._out)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._out = b""  # the read side tells how the connection ended
            return
        self._out = self._out[sent:]
        if self._blocked != bool(self._out):
            self._blocked = bool(self._out)
            self._poller.change(self.fd, READABLE | WRITABLE if self._blocked else READABLE)

    def _read(self) -> None:
        sock, errand = self._sock, self._errand
        if sock is None:
            return
        before_ns = monotonic_ns()
        try:
            data, ancillary, _, _ = sock.recvmsg(READ_BYTES, kernel.ANCILLARY_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._ended(reason(error))
            return
        read_ns = monotonic_ns()
        if not data:
            self._ended("")
            return
        if errand is None:
            self.close()  # bytes that nobody asked for
            return
        poller = self._poller
        lower_ns = self._empty_ns
        if (poller.slept or self._round != poller.round - 1) and poller.empty_ns > lower_ns:
            lower_ns = poller.empty_ns
        self._round = poller.round
        at_ns = read_ns
        if ancillary and poller.offset_ns is not None:
            seconds, nanoseconds = _timespec(ancillary[0][2])
            at_ns = seconds * 1_000_000_000 + nanoseconds - poller.offset_ns
            before = errand.reads[-1][0] if errand.reads else 0
            at_ns = min(max(at_ns, lower_ns, before), read_ns)
            errand.late_ns = max(errand.late_ns, read_ns - at_ns)
        else:
            errand.stamped = False
        if len(data) < READ_BYTES:
            self._empty_ns = before_ns
        self._take(errand, data, at_ns, lower_ns)

    def _take(self, errand: Errand, data: bytes, at_ns: int, lower_ns: int) -> None:
        """Hand the bytes of one read to the parser and keep what it makes of them."""
        parser = self._parser
        errand.received += len(data) + _READ_COST_BYTES
        try:
            if self._tls is not None:
                data, answer = self._tls.feed(data)
                if answer and self._sock is not None:
                    self._sock.send(answer)
            parser.feed(data)
        except (WireError, ssl.SSLError) as error:
            self._keep(errand, at_ns, lower_ns)
            detail = error.detail if isinstance(error, WireError) else reason(error)
            self.give_up(Fault.PROTOCOL, detail)
            return
        self._keep(errand, at_ns, lower_ns)
        if parser.complete:
            errand.complete_ns = at_ns
            if not parser.reusable or self._out or (self._tls is not None and self._tls.ended):
                self.close()
            self._over(None, "")
        elif errand.received > MAX_RESPONSE_BYTES:
            self.give_up(Fault.TOO_LARGE, f"the response takes more than {MAX_RESPONSE_BYTES} bytes")
        elif self._tls is not None and self._tls.ended:
            self._ended("")

    def _keep(self, errand: Errand, at_ns: int, lower_ns: int) -> None:
        parser = self._parser
        if errand.headers_ns is None and parser.headers_complete:
            errand.headers_ns = at_ns
            errand.status, errand.headers, errand.version = parser.status, parser.headers, parser.version
        body = parser.take_body()
        if body:
            errand.reads.append((at_ns, lower_ns, body))

    def _ended(self, detail: str) -> None:
        """Learn that the connection gives nothing more; ``detail`` empty: the server closed it in order."""
        errand = self._errand
        self.close()
        if errand is None:
            return
        if not detail and self._parser.end():
            errand.complete_ns = errand.reads[-1][0] if errand.reads else errand.headers_ns
            self._over(None, "")
        elif errand.reads and errand.reads[-1][2].endswith(b"data: [DONE]\n\n"):
            self._over(None, "")
        else:
            self._over(Fault.CLOSED, detail or "the server closed the connection")

    def _over(self, fault: Fault | None, detail: str) -> None:
        errand, self._errand = self._errand, None
        if self._sock is None:
            self._tls, self._out, self._blocked, self._parser = None, b"", False, ResponseParser()
        if errand is None:
            return
        errand.fault, errand.detail, errand.over_ns = fault, detail, monotonic_ns()
        self._owner.finished(self, errand)
