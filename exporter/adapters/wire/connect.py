"""New connections: name, address, proxy, TLS, each with its own stamp and its own fault."""

import asyncio
import socket
import ssl

import aiohappyeyeballs

from exporter.adapters.wire import kernel
from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.connection import Connection
from exporter.adapters.wire.draft import Draft
from exporter.adapters.wire.faults import WireError, reason
from exporter.adapters.wire.http1 import ResponseParser
from exporter.adapters.wire.proxy import Proxy
from exporter.adapters.wire.request import Origin
from exporter.adapters.wire.resolve import AddressInfo, Resolver
from exporter.adapters.wire.stamped_socket import Record
from exporter.adapters.wire.tls import Contexts
from exporter.model.target import IpFamily, TlsOptions
from exporter.model.transcript import Fault

NEXT_ADDRESS_AFTER_S = 0.25
"""RFC 8305's connection attempt delay."""
_MAX_PROXY_ANSWER_BYTES = 65_536


class Connector:
    """Opens connections."""

    def __init__(self, clock: StampClock, resolver: Resolver) -> None:
        self._clock = clock
        self._resolver = resolver
        self._contexts = Contexts()

    async def open(
        self, origin: Origin, tls: TlsOptions, proxy: Proxy | None, draft: Draft, ip: IpFamily | None = None
    ) -> Connection:
        """Connect, through the proxy if there is one.  Raises WireError; closes what it opened.

        Addresses of the family ``ip`` are tried first; None leaves the system's order.
        """
        context = self._context(tls) if origin.scheme == "https" else None
        # Reading the trust store, the first time, takes up to 0.4 s that are no part of the request.
        draft.started_ns = self._clock.now_ns()
        host, port = (origin.host, origin.port) if proxy is None else (proxy.host, proxy.port)
        addresses = in_order(await self._resolver.resolve(host, port), ip)
        draft.resolved_ns = self._clock.now_ns()
        sock = await _connect(addresses, f"{host}:{port}", via_proxy=proxy is not None)
        connection = Connection(sock, asyncio.get_running_loop(), self._clock)
        try:
            draft.note_connection(connection)
            if context is not None and proxy is not None:
                await _tunnel(connection, origin, proxy)
            draft.connected_ns = self._clock.now_ns()
            if context is not None:
                await connection.start_tls(context, tls.server_name or origin.host)
                draft.tls_done_ns = self._clock.now_ns()
        except BaseException:
            connection.close()
            raise
        return connection

    def _context(self, tls: TlsOptions) -> ssl.SSLContext:
        try:
            return self._contexts.get(tls)
        except OSError as error:
            files = ", ".join(file for file in (tls.ca_file, tls.cert_file, tls.key_file) if file)
            raise WireError(Fault.TLS, f"cannot use the TLS files {files}: {reason(error)}") from None


def in_order(addresses: list[AddressInfo], ip: IpFamily | None) -> list[AddressInfo]:
    """Return the addresses with those of one family first, each family in its own order."""
    if ip is None:
        return addresses
    wanted = socket.AF_INET6 if ip is IpFamily.IPV6 else socket.AF_INET
    return sorted(addresses, key=lambda address: address[0] != wanted)


async def _connect(addresses: list[AddressInfo], peer: str, *, via_proxy: bool) -> socket.socket:
    try:
        return await aiohappyeyeballs.start_connection(
            addresses, happy_eyeballs_delay=NEXT_ADDRESS_AFTER_S, socket_factory=_new_socket
        )
    except (OSError, OverflowError) as error:  # a port above 65535 overflows
        fault, what = (Fault.PROXY, "proxy ") if via_proxy else (Fault.CONNECT, "")
        raise WireError(fault, f"cannot connect to {what}{peer}: {reason(error)}") from None


def _new_socket(address: AddressInfo) -> socket.socket:
    family, kind, proto, _, _ = address
    sock = socket.socket(family, kind, proto)
    kernel.ask_for_stamps(sock)  # before the connection is made: a server may speak at once
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


class _ProxyAnswer:
    """Waits for a proxy's answer to CONNECT."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[int] = loop.create_future()
        self._parser = ResponseParser()
        self._bytes = 0

    def received(self, record: Record) -> None:
        self._bytes += len(record.data)
        try:
            # A 2xx answer to CONNECT has no body, whatever its headers say; the far end has not spoken yet.
            self._parser.feed(record.data)
        except WireError as error:
            self._fail(error.detail)
        if self._parser.status is not None and not self.done.done():
            self.done.set_result(self._parser.status)
        elif self._bytes > _MAX_PROXY_ANSWER_BYTES:
            self._fail("its answer does not end")

    def ended(self, error: OSError | None) -> None:
        self._fail("it closed the connection" if error is None else reason(error))

    def _fail(self, detail: str) -> None:
        if not self.done.done():
            self.done.set_exception(WireError(Fault.PROXY, f"the proxy made no tunnel: {detail}"))


async def _tunnel(connection: Connection, origin: Origin, proxy: Proxy) -> None:
    answer = _ProxyAnswer(asyncio.get_running_loop())
    connection.lend(answer)
    head = [f"CONNECT {origin.authority} HTTP/1.1", f"Host: {origin.authority}"]
    head += [f"{name}: {value}" for name, value in proxy.headers]
    connection.write("\r\n".join([*head, "", ""]).encode("latin-1"))
    status = await answer.done
    if not 200 <= status < 300:
        raise WireError(Fault.PROXY, f"the proxy answered CONNECT with status {status}")
    connection.lend(None)
