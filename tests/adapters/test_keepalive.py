"""Which connections are used again, and that nothing is ever sent twice."""

import asyncio

import pytest

from exporter.adapters.wire.wire import Wire
from exporter.model.transcript import Fault
from tests.adapters.wire_server import (
    DONE,
    END,
    STREAM_HEAD,
    Answer,
    Peer,
    Request,
    always,
    chunk,
    event,
    request_to,
    serving,
    whole,
)


async def streams(peer: Peer, request: Request) -> None:
    await peer.send(STREAM_HEAD + chunk(event("a")) + chunk(DONE))
    await asyncio.sleep(0.005)
    await peer.send(END)


async def test_a_stream_is_drained_and_its_connection_used_again(wire: Wire) -> None:
    async with serving(streams) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        got = [await wire.exchange(request) for _ in range(10)]
    assert [each.reused for each in got] == [False] + [True] * 9
    assert server.connections == 1
    assert all(each.complete_ns is not None for each in got)
    for each in got[1:]:
        assert (each.resolved_ns, each.connected_ns, each.tls_done_ns) == (None, None, None)
        assert each.peer == got[0].peer


async def test_concurrent_requests_take_a_connection_each_and_keep_them(wire: Wire) -> None:
    async with serving(streams) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        for _ in range(5):
            await asyncio.gather(*(wire.exchange(request) for _ in range(8)))
    assert server.connections == 8
    assert len(server.requests) == 40


NOT_REUSABLE: dict[str, Answer] = {
    "connection: close": always(whole(b"{}", extra="Connection: close\r\n")),
    "http/1.0": always(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    "bytes after the message": always(whole(b"{}") + b"surplus"),
    "a second response": always(whole(b"{}") + whole(b"{}")),
    "body until close": always(b"HTTP/1.1 200 OK\r\n\r\n{}", keep=False),
}


@pytest.mark.parametrize("name", NOT_REUSABLE)
async def test_a_connection_that_cannot_be_trusted_is_closed(wire: Wire, name: str) -> None:
    async with serving(NOT_REUSABLE[name]) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        for _ in range(3):
            got = await wire.exchange(request)
            assert (got.fault, got.status, got.content) == (None, 200, b"{}")
            assert not got.reused
        await server.alone()
    assert server.connections == 3


async def test_a_fresh_connection_is_opened_and_closed(wire: Wire) -> None:
    async with serving(always(whole(b"{}"))) as server:
        url = f"http://127.0.0.1:{server.port}/"
        await wire.exchange(request_to(url))
        for _ in range(3):
            got = await wire.exchange(request_to(url, fresh=True))
            assert not got.reused
            assert got.connected_ns is not None
        assert server.connections == 4
        while len(server.peers) > 1:
            await asyncio.wait_for(server.left.wait(), 5)
        kept = await wire.exchange(request_to(url))
        assert kept.reused


async def test_a_connection_whose_request_was_not_taken_whole_is_not_used_again(wire: Wire) -> None:
    async def answers_and_reads_no_more(peer: Peer, request: Request) -> None:
        await peer.send(whole(b"{}", status="413 Too Large"))
        await asyncio.Event().wait()

    async with serving(answers_and_reads_no_more, reads_body=False) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", body=b"x" * 8_000_000))
        assert (got.status, got.send_done_ns) == (413, None)
        again = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
    assert (again.status, again.reused) == (413, False)


@pytest.mark.parametrize("loop_runs_between", [True, False], ids=["seen-by-loop", "seen-at-use"])
async def test_a_connection_the_server_closed_while_idle_is_not_used(
    wire: Wire, loop_runs_between: bool
) -> None:
    async with serving(always(whole(b"{}"))) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        await wire.exchange(request)
        sock = server.peers[0].writer.get_extra_info("socket")
        sock.shutdown(2)
        if loop_runs_between:
            await asyncio.sleep(0.02)
        got = await wire.exchange(request)
    assert (got.fault, got.status, got.reused) == (None, 200, False)
    assert len(server.requests) == 2


async def test_a_connection_on_which_the_server_spoke_while_idle_is_not_used(wire: Wire) -> None:
    async with serving(always(whole(b"{}"))) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        await wire.exchange(request)
        await server.peers[0].send(whole(b'"unasked"'))
        got = await wire.exchange(request)
    assert (got.content, got.reused) == (b"{}", False)


async def test_a_request_that_was_written_is_never_sent_again(wire: Wire) -> None:
    async def once(peer: Peer, request: Request) -> bool:
        if len(server.requests) == 1:
            await peer.send(whole(b"{}"))
            return True
        return False

    async with serving(once) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        await wire.exchange(request)
        got = await wire.exchange(request)
    assert (got.fault, got.reused) == (Fault.CLOSED, True)
    assert len(server.requests) == 2
    assert server.connections == 1


async def test_an_idle_connection_is_closed_when_it_gets_old() -> None:
    wire = Wire(environ={}, max_idle_s=0.02)
    async with serving(always(whole(b"{}"))) as server:
        request = request_to(f"http://127.0.0.1:{server.port}/")
        await wire.exchange(request)
        await server.alone()
        assert not (await wire.exchange(request)).reused
    await wire.aclose()


async def test_origins_do_not_share_connections(wire: Wire) -> None:
    async with serving(always(whole(b"1"))) as one, serving(always(whole(b"2"))) as two:
        for _ in range(2):
            assert (await wire.exchange(request_to(f"http://127.0.0.1:{one.port}/"))).content == b"1"
            assert (await wire.exchange(request_to(f"http://127.0.0.1:{two.port}/"))).content == b"2"
        assert (one.connections, two.connections) == (1, 1)


async def test_closing_the_wire_closes_idle_connections(wire: Wire) -> None:
    async with serving(always(whole(b"{}"))) as server:
        await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
        await wire.aclose()
        await server.alone()
