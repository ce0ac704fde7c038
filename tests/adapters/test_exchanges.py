"""One request and its response over a real socket."""

import asyncio
import socket
import time

import pytest

from exporter.adapters.wire.exchange import DRAIN_S
from exporter.adapters.wire.resolve import Resolver
from exporter.adapters.wire.wire import Receipt, Wire
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
    serving,
    whole,
)

STREAM = STREAM_HEAD + chunk(event("a")) + chunk(event("b")) + chunk(DONE) + END


async def test_a_response_arrives_whole_and_every_clock_is_in_order(wire: Wire) -> None:
    async with serving(always(whole(b'{"a":1}', extra="X-Kind: One\r\n"))) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/v1/x?y=1", body=b"[1]"))
    assert (got.status, got.content, got.fault, got.http_version) == (200, b'{"a":1}', None, "1.1")
    assert got.header("x-kind") == "One"
    assert (got.peer, got.family, got.reused) == (f"127.0.0.1:{server.port}", "ipv4", False)
    clocks = [
        got.started_ns,
        got.resolved_ns,
        got.connected_ns,
        got.sent_ns,
        got.sent_by_ns,
        got.headers_ns,
        got.complete_ns,
        got.closed_ns,
    ]
    assert None not in clocks
    assert clocks == sorted(clocks)  # type: ignore[type-var]
    assert got.send_done_ns is not None
    assert got.tls_done_ns is None
    (request,) = server.requests
    assert request.line == "POST /v1/x?y=1 HTTP/1.1"
    assert request.headers["host"] == f"127.0.0.1:{server.port}"
    assert request.body == b"[1]"


async def test_a_stream_in_one_byte_pieces_is_the_same_stream(wire: Wire) -> None:
    async def drip(peer: Peer, request: Request) -> None:
        for position in range(len(STREAM)):
            await peer.send(STREAM[position : position + 1])
            await asyncio.sleep(0)

    async with serving(drip) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
    assert got.content == event("a") + event("b") + DONE
    assert got.complete_ns is not None
    assert got.fault is None


async def test_pieces_have_the_stamps_of_their_reads_in_order(wire: Wire) -> None:
    async def slowly(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD)
        for text in "abcd":
            await asyncio.sleep(0.01)
            await peer.send(chunk(event(text)))
        await peer.send(chunk(DONE) + END)

    async with serving(slowly) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
    assert got.sent_ns is not None
    edges = [edge for piece in got.body for edge in (piece.earliest_ns, piece.at_ns)]
    assert edges == sorted(edges)
    assert all(got.sent_ns <= piece.earliest_ns <= piece.at_ns <= piece.read_ns for piece in got.body)
    assert got.stamps is StampSource.KERNEL
    assert len(got.lateness_ns) >= len(got.body)
    assert min(got.lateness_ns) >= 0


async def test_a_request_larger_than_the_send_buffer_is_sent_while_the_server_reads_late(wire: Wire) -> None:
    body = b"x" * 8_000_000

    async def late(peer: Peer, request: Request) -> None:
        await peer.send(whole(b"{}"))

    async with serving(late) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", body=body))
    assert (got.status, got.fault) == (200, None)
    assert server.requests[0].body == body
    assert got.sent_ns is not None
    assert got.send_done_ns is not None
    assert got.send_done_ns > got.sent_ns


async def test_an_answer_given_before_the_request_was_read_is_received(wire: Wire) -> None:
    async def refuse(peer: Peer, request: Request) -> bool:
        await peer.send(whole(b"too large", status="413 Payload Too Large", extra="Connection: close\r\n"))
        await asyncio.sleep(0.05)
        return False

    async with serving(refuse, reads_body=False) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", body=b"x" * 8_000_000))
    assert got.status == 413
    assert got.content == b"too large"


LOOPBACK = [("127.0.0.1", "127.0.0.1", "ipv4"), ("::1", "[::1]", "ipv6")]


@pytest.mark.parametrize(("host", "in_url", "family"), LOOPBACK, ids=["ipv4", "ipv6"])
async def test_both_address_families(wire: Wire, host: str, in_url: str, family: str) -> None:
    async with serving(always(whole(b"{}")), host=host) as server:
        got = await wire.exchange(request_to(f"http://{in_url}:{server.port}/"))
    assert (got.status, got.family, got.peer) == (200, family, f"{in_url}:{server.port}")
    assert server.requests[0].headers["host"] == f"{in_url}:{server.port}"


async def test_the_next_address_is_tried_when_the_first_refuses() -> None:
    async with serving(always(whole(b"{}"))) as server:

        def lookup(host: str, port: int) -> list[tuple[int, int, int, str, tuple[str, int]]]:
            kind = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
            return [(*kind, ("127.0.0.2", 1)), (*kind, ("127.0.0.1", server.port))]

        wire = Wire(environ={}, resolver=Resolver(lookup))
        got = await wire.exchange(request_to("http://two.test/"))
        await wire.aclose()
    assert (got.status, got.peer) == (200, f"127.0.0.1:{server.port}")


async def test_a_missing_end_after_done_is_waited_for_briefly_and_is_no_fault(wire: Wire) -> None:
    async def no_end(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD + chunk(event("a")) + chunk(DONE))
        await peer.reader.read()

    async with serving(no_end) as server:
        url = f"http://127.0.0.1:{server.port}/"
        got = await wire.exchange(request_to(url, timeout_s=30.0))
        assert (got.fault, got.complete_ns) == (None, None)
        assert got.content.endswith(DONE)
        assert got.closed_ns - got.body[-1].at_ns < 20 * DRAIN_S * 1e9
        await server.alone()


async def test_a_deadline_after_done_is_no_fault(wire: Wire) -> None:
    async def no_end(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD + chunk(event("a")) + chunk(DONE))
        await peer.reader.read()

    async with serving(no_end) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", timeout_s=DRAIN_S / 5))
        await server.alone()
    assert (got.fault, got.complete_ns) == (None, None)


async def test_text_that_looks_like_done_does_not_start_the_drain(wire: Wire) -> None:
    async def long_answer(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD + chunk(event("data: [DONE]")))
        await asyncio.sleep(DRAIN_S * 1.3)
        await peer.send(chunk(event("more")) + chunk(DONE) + END)

    async with serving(long_answer) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
    assert event("more") in got.content
    assert got.complete_ns is not None


async def test_cancelling_closes_the_socket_and_leaves_a_transcript(wire: Wire) -> None:
    async def hang(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD + chunk(event("a")))
        await peer.reader.read()

    receipt = Receipt()
    async with serving(hang) as server:
        task = asyncio.create_task(
            wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", timeout_s=30.0), receipt)
        )
        await server.asked.wait()
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert receipt.transcript is not None
        assert receipt.transcript.fault is Fault.CANCELLED
        assert receipt.transcript.content == event("a")
        await server.alone()


async def test_a_key_is_never_shown(wire: Wire) -> None:
    request = request_to(
        "http://127.0.0.1:1/", headers=(("Authorization", "Bearer s3cret"),), proxy="http://u:s3cret@h"
    )
    got = await wire.exchange(request)
    assert "s3cret" not in repr(request) + repr(got)


async def test_a_header_with_a_line_break_is_refused_before_anything_is_opened(wire: Wire) -> None:
    async with serving(always(whole(b"{}"))) as server:
        url = f"http://127.0.0.1:{server.port}/"
        with pytest.raises(ValueError, match="line break"):
            await wire.exchange(request_to(url, headers=(("A", "1\r\nB: 2"),)))
        assert server.connections == 0


async def test_cpu_time_of_waiting_is_small(wire: Wire) -> None:
    async def later(peer: Peer, request: Request) -> None:
        await asyncio.sleep(0.5)
        await peer.send(whole(b"{}"))

    async with serving(later) as server:
        before, started = time.process_time(), time.monotonic()
        await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
        assert time.process_time() - before < 0.3 * (time.monotonic() - started)
