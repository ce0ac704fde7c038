"""TLS: whom it trusts, what it tells, and that stamps survive it."""

import asyncio
import datetime as dt
import socket
import ssl
from pathlib import Path

import pytest
import trustme

from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.connection import Connection
from exporter.adapters.wire.faults import WireError
from exporter.adapters.wire.resolve import Resolver, system_lookup
from exporter.adapters.wire.tls import make_context
from exporter.adapters.wire.wire import Wire
from exporter.model.target import TlsOptions
from exporter.model.transcript import Fault, StampSource
from tests.adapters.wire_server import (
    DONE,
    END,
    STREAM_HEAD,
    Peer,
    Request,
    always,
    chunk,
    event,
    request_to,
    server_context,
    serving,
    whole,
)

OK = always(whole(b"{}"))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_server_of_a_private_authority(
    wire: Wire, authority: trustme.CA, ca_file: str, version: ssl.TLSVersion
) -> None:
    expiry = dt.datetime.now(dt.UTC) + dt.timedelta(days=30)
    tls = server_context(authority, "127.0.0.1", not_after=expiry)
    tls.minimum_version = tls.maximum_version = version
    async with serving(OK, tls=tls) as server:
        request = request_to(f"https://127.0.0.1:{server.port}/", tls=TlsOptions(ca_file=ca_file))
        first = await wire.exchange(request)
        again = await wire.exchange(request)
    assert (first.fault_detail, first.status, first.content) == ("", 200, b"{}")
    assert first.tls_version == ("TLSv1.3" if version is ssl.TLSVersion.TLSv1_3 else "TLSv1.2")
    assert first.certificate_expiry_unix_s == int(expiry.timestamp())
    assert first.connected_ns is not None
    assert first.tls_done_ns is not None
    assert first.sent_ns is not None
    assert first.connected_ns < first.tls_done_ns <= first.sent_ns
    # TLS 1.3 session tickets arrive after the handshake; they do not cost the connection.
    assert (again.reused, again.tls_done_ns) == (True, None)
    assert again.certificate_expiry_unix_s == first.certificate_expiry_unix_s
    assert server.connections == 1


async def test_stamps_are_the_kernels_and_pieces_keep_them(
    wire: Wire, authority: trustme.CA, ca_file: str
) -> None:
    async def slowly(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD)
        for text in "abcd":
            await asyncio.sleep(0.01)
            await peer.send(chunk(event(text)))
        await peer.send(chunk(DONE) + END)

    async with serving(slowly, tls=server_context(authority, "127.0.0.1")) as server:
        url = f"https://127.0.0.1:{server.port}/"
        got = await wire.exchange(request_to(url, tls=TlsOptions(ca_file=ca_file)))
    assert got.content == b"".join(event(text) for text in "abcd") + DONE
    assert got.stamps is StampSource.KERNEL
    stamps = [piece.at_ns for piece in got.body]
    assert stamps == sorted(stamps)
    assert len(set(stamps)) >= 4


async def test_a_large_body_both_ways(wire: Wire, authority: trustme.CA, ca_file: str) -> None:
    body = bytes(range(256)) * 8192
    async with serving(always(whole(body)), tls=server_context(authority, "127.0.0.1")) as server:
        url = f"https://127.0.0.1:{server.port}/"
        got = await wire.exchange(request_to(url, body=body, tls=TlsOptions(ca_file=ca_file), timeout_s=20.0))
    assert got.content == body
    assert server.requests[0].body == body


def _expired(authority: trustme.CA) -> ssl.SSLContext:
    long_ago = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    return server_context(
        authority, "127.0.0.1", not_before=long_ago, not_after=long_ago + dt.timedelta(days=1)
    )


@pytest.mark.parametrize(
    ("case", "detail"),
    [("expired", "expired"), ("untrusted", "unable to get local issuer"), ("wrong host", "mismatch")],
)
async def test_a_certificate_that_is_not_accepted(
    wire: Wire, authority: trustme.CA, ca_file: str, case: str, detail: str
) -> None:
    contexts = {
        "expired": _expired(authority),
        "untrusted": server_context(trustme.CA(), "127.0.0.1"),
        "wrong host": server_context(authority, "other.test"),
    }
    async with serving(OK, tls=contexts[case]) as server:
        url = f"https://127.0.0.1:{server.port}/"
        got = await wire.exchange(request_to(url, tls=TlsOptions(ca_file=ca_file)))
        assert got.fault is Fault.TLS
        assert detail in got.fault_detail.lower()
        assert got.connected_ns is not None
        assert (got.tls_done_ns, got.sent_ns) == (None, None)
        unchecked = await wire.exchange(request_to(url, tls=TlsOptions(insecure=True)))
        assert (unchecked.fault, unchecked.status) == (None, 200)
        assert unchecked.certificate_expiry_unix_s is None
    assert len(server.requests) == 1


async def test_the_systems_trust_store_does_not_know_a_private_authority(
    wire: Wire, authority: trustme.CA
) -> None:
    async with serving(OK, tls=server_context(authority, "127.0.0.1")) as server:
        got = await wire.exchange(request_to(f"https://127.0.0.1:{server.port}/"))
    assert got.fault is Fault.TLS
    assert "certificate not accepted" in got.fault_detail


async def test_the_systems_trust_store_is_used(
    authority: trustme.CA, ca_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", ca_file)
    wire = Wire(environ={})
    async with serving(OK, tls=server_context(authority, "127.0.0.1")) as server:
        got = await wire.exchange(request_to(f"https://127.0.0.1:{server.port}/"))
    await wire.aclose()
    assert got.status == 200


async def test_the_server_is_asked_for_by_name(authority: trustme.CA, ca_file: str) -> None:
    asked: list[str | None] = []
    tls = server_context(authority, "api.test", "front.test")
    tls.sni_callback = lambda _socket, name, _context: asked.append(name)
    wire = Wire(environ={}, resolver=Resolver(lambda host, port: system_lookup("127.0.0.1", port)))
    async with serving(OK, tls=tls) as server:
        url = f"https://api.test:{server.port}/"
        one = await wire.exchange(request_to(url, tls=TlsOptions(ca_file=ca_file)))
        two = await wire.exchange(request_to(url, tls=TlsOptions(ca_file=ca_file, server_name="front.test")))
    await wire.aclose()
    assert (one.fault, two.fault) == (None, None)
    assert asked == ["api.test", "front.test"]
    assert [request.headers["host"] for request in server.requests] == [f"api.test:{server.port}"] * 2
    assert not two.reused  # a connection made under other TLS options is not shared


async def test_a_ca_file_that_cannot_be_used(wire: Wire, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate")
    for path in (str(bad), str(tmp_path / "missing.pem")):
        got = await wire.exchange(request_to("https://127.0.0.1:1/", tls=TlsOptions(ca_file=path)))
        assert got.fault is Fault.TLS
        assert path in got.fault_detail


async def test_a_ca_file_is_read_again_when_it_changes(
    wire: Wire, authority: trustme.CA, tmp_path: Path
) -> None:
    path = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(path)
    async with serving(OK, tls=server_context(authority, "127.0.0.1")) as server:
        request = request_to(f"https://127.0.0.1:{server.port}/", tls=TlsOptions(ca_file=str(path)))
        assert (await wire.exchange(request)).fault is Fault.TLS
        authority.cert_pem.write_to_path(path)
        assert (await wire.exchange(request)).status == 200


async def test_a_server_that_speaks_no_tls(wire: Wire) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        got = await wire.exchange(request_to(f"https://127.0.0.1:{port}/"))
    assert got.fault is Fault.TLS


@pytest.mark.parametrize("answers", [b"", b"\x16\x03"], ids=["silent", "half-a-record"])
async def test_a_handshake_that_the_server_leaves(wire: Wire, answers: bytes) -> None:
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answers)
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(leave, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        got = await wire.exchange(request_to(f"https://127.0.0.1:{port}/"))
    assert got.fault is Fault.TLS
    assert "handshake" in got.fault_detail


async def test_a_handshake_that_hangs_ends_at_the_deadline_and_closes_the_socket(wire: Wire) -> None:
    closed = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        closed.set()
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(hang, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        # Insecure, because reading the trust store can take a busy machine longer than the whole deadline.
        hung = request_to(f"https://127.0.0.1:{port}/", timeout_s=0.1, tls=TlsOptions(insecure=True))
        got = await wire.exchange(hung)
        await closed.wait()
    assert got.fault is Fault.DEADLINE
    assert got.connected_ns is not None
    assert got.tls_done_ns is None


async def test_a_close_notify_while_idle_ends_the_connection(
    wire: Wire, authority: trustme.CA, ca_file: str
) -> None:
    async with serving(OK, tls=server_context(authority, "127.0.0.1")) as server:
        request = request_to(f"https://127.0.0.1:{server.port}/", tls=TlsOptions(ca_file=ca_file))
        await wire.exchange(request)
        server.peers[0].writer.close()
        await asyncio.sleep(0.02)
        again = await wire.exchange(request)
    assert (again.fault, again.reused) == (None, False)


async def test_a_stream_cut_by_close_notify_is_a_closed_connection(
    wire: Wire, authority: trustme.CA, ca_file: str
) -> None:
    async def ends(peer: Peer, request: Request) -> bool:
        await peer.send(STREAM_HEAD + chunk(event("a")))
        return False

    async with serving(ends, tls=server_context(authority, "127.0.0.1")) as server:
        url = f"https://127.0.0.1:{server.port}/"
        got = await wire.exchange(request_to(url, tls=TlsOptions(ca_file=ca_file)))
    assert got.fault is Fault.CLOSED
    assert got.content == event("a")


async def test_damaged_records_break_the_exchange(wire: Wire, authority: trustme.CA, ca_file: str) -> None:
    async def damage(peer: Peer, request: Request) -> bool:
        await peer.send(STREAM_HEAD + chunk(event("a")))
        await asyncio.sleep(0.02)
        raw: socket.socket = peer.writer.get_extra_info("socket")
        with socket.socket(fileno=raw.fileno()) as direct:
            direct.send(b"\x17\x03\x03\x00\x20" + b"\0" * 32)
            direct.detach()
        await peer.reader.read()
        return False

    async with serving(damage, tls=server_context(authority, "127.0.0.1")) as server:
        url = f"https://127.0.0.1:{server.port}/"
        got = await wire.exchange(request_to(url, tls=TlsOptions(ca_file=ca_file)))
        await server.alone()
    assert got.fault is Fault.CLOSED
    assert "TLS failed" in got.fault_detail


async def test_nothing_is_written_in_the_clear_when_tls_has_broken(
    authority: trustme.CA, ca_file: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    ours.setblocking(False)
    with theirs:
        connection = Connection(ours, asyncio.get_running_loop(), StampClock())
        shaking = asyncio.create_task(
            connection.start_tls(make_context(TlsOptions(ca_file=ca_file)), "127.0.0.1")
        )
        await asyncio.sleep(0)
        theirs.send(b"this is no TLS")
        with pytest.raises(WireError):
            await shaking
        connection.write(b"Authorization: s3cret")
        connection.close()
        theirs.settimeout(5)
        arrived = b""
        while data := theirs.recv(65_536):
            arrived += data
    assert b"s3cret" not in arrived
