"""A connection: a stamped socket, perhaps under TLS, lent to one exchange at a time."""

import asyncio
import socket
import ssl

from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.faults import WireError, reason
from exporter.adapters.wire.stamped_socket import Receiver, Record, StampedSocket
from exporter.adapters.wire.tls import TlsStream
from exporter.model.transcript import Fault


class Connection:
    """Passes decrypted records to whoever has borrowed it.

    Anything but silence or TLS's own messages while nobody has makes it unusable.
    """

    def __init__(self, sock: socket.socket, loop: asyncio.AbstractEventLoop, clock: StampClock) -> None:
        self._loop = loop
        self._tls: TlsStream | None = None
        self._handshake: asyncio.Future[None] | None = None
        self._borrower: Receiver | None = None
        self.usable = True
        self.family = "ipv6" if sock.family == socket.AF_INET6 else "ipv4"
        self.peer = _address(sock)
        self.certificate_expiry_unix_s: float | None = None
        self.tls_version: str | None = None
        self.idle_since_ns = 0
        self._socket = StampedSocket(sock, loop, clock, self)

    @property
    def begun_ns(self) -> tuple[int, int] | None:
        """Just before and just after the kernel took the first byte of the last write; None until it did."""
        return self._socket.begun_ns

    @property
    def flushed_ns(self) -> int | None:
        """When the kernel had taken everything written; None while some waits."""
        return self._socket.flushed_ns

    def lend(self, borrower: Receiver | None) -> None:
        """Send what comes in to ``borrower`` from now on; None takes the connection back."""
        self._borrower = borrower

    def write(self, data: bytes) -> None:
        """Send, encrypted where TLS is on."""
        if not self.usable:
            return
        if self._tls is not None:
            try:
                data = self._tls.encrypt(data)
            except ssl.SSLError:
                self.usable = False  # the read side tells how it ended
                return
        self._socket.write(data)

    def is_alive(self) -> bool:
        """Tell whether an idle connection can carry a request, after reading what has come in meanwhile."""
        if self.usable:
            self._socket.read_now()
        return self.usable and self._socket.is_open

    def close(self) -> None:
        """Close the socket."""
        self.usable = False
        self._socket.close()

    async def start_tls(self, context: ssl.SSLContext, server_name: str) -> None:
        """Shake hands.  Raises WireError(TLS)."""
        self._handshake = self._loop.create_future()
        try:
            self._tls = TlsStream(context, server_name)
            self._socket.write(self._tls.start())
        except (ssl.SSLError, ValueError, UnicodeError) as error:
            raise WireError(Fault.TLS, f"cannot start TLS with {server_name!r}: {reason(error)}") from None
        await self._handshake
        self.tls_version = self._tls.version
        self.certificate_expiry_unix_s = self._tls.certificate_expiry_unix_s

    def received(self, record: Record) -> None:
        """Take one read of the socket."""
        if self._tls is None:
            self._pass_on(record)
            return
        try:
            plain, answer = self._tls.feed(record.data)
        except ssl.SSLError as error:
            self._socket.write(self._tls.failure_alert())
            self._broken(_tls_error(error))
            return
        if answer:
            self._socket.write(answer)
        if self._tls.ready and self._handshake is not None and not self._handshake.done():
            self._handshake.set_result(None)
        if plain:
            self._pass_on(record._replace(data=plain))
        if self._tls.ended:
            self.ended(None)

    def ended(self, error: OSError | None) -> None:
        """Learn that the socket will give nothing more."""
        self.usable = False
        if self._handshake is not None and not self._handshake.done():
            cause = "the server closed the connection" if error is None else reason(error)
            self._broken(WireError(Fault.TLS, f"TLS handshake not finished: {cause}"))
        elif self._borrower is not None:
            self._borrower.ended(error)
        else:
            self.close()

    def _pass_on(self, record: Record) -> None:
        if self._borrower is not None:
            self._borrower.received(record)
        else:
            self.close()

    def _broken(self, error: WireError) -> None:
        self.usable = False
        if self._handshake is not None and not self._handshake.done():
            self._handshake.set_exception(error)
        elif self._borrower is not None:
            self._borrower.ended(ConnectionAbortedError(error.detail))
        else:
            self.close()


def _address(sock: socket.socket) -> str | None:
    try:
        host, port = sock.getpeername()[:2]
    except OSError:
        return None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _tls_error(error: ssl.SSLError) -> WireError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return WireError(Fault.TLS, f"certificate not accepted: {error.verify_message}")
    return WireError(Fault.TLS, f"TLS failed: {error.reason or reason(error)}")
