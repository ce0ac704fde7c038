"""Every way an exchange can break, and that what arrived before is kept."""

import asyncio
import threading
import time

import pytest

from exporter.adapters.wire.draft import Draft
from exporter.adapters.wire.exchange import Exchange
from exporter.adapters.wire.faults import WireError
from exporter.adapters.wire.loop import new_event_loop
from exporter.adapters.wire.resolve import MAX_LOOKUPS, AddressInfo, Resolver, system_lookup
from exporter.adapters.wire.stamped_socket import Record
from exporter.adapters.wire.wire import Wire
from exporter.model.transcript import Fault
from tests.adapters.wire_server import (
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


async def silent(peer: Peer, request: Request) -> None:
    await peer.reader.read()


async def stalls(peer: Peer, request: Request) -> None:
    await peer.send(STREAM_HEAD + chunk(event("a")))
    await peer.reader.read()


async def drips(peer: Peer, request: Request) -> None:
    await peer.send(STREAM_HEAD)
    while not peer.reader.at_eof():
        await peer.send(chunk(b": ping\n\n"))
        await asyncio.sleep(0.01)


async def cut_in_stream(peer: Peer, request: Request) -> bool:
    await peer.send(STREAM_HEAD + chunk(event("a")))
    await asyncio.sleep(0.02)
    peer.cut()
    return False


async def ends_in_stream(peer: Peer, request: Request) -> bool:
    await peer.send(STREAM_HEAD + chunk(event("a")))
    return False


async def floods(peer: Peer, request: Request) -> None:
    await peer.send(STREAM_HEAD)
    while True:
        await peer.send(chunk(b"x" * 60_000))


async def many_small(peer: Peer, request: Request) -> None:
    await peer.send(STREAM_HEAD)
    while True:
        await peer.send(chunk(b"x"))
        await asyncio.sleep(0)


ENDLESS_HEADERS = b"HTTP/1.1 200 OK\r\n" + b"X-Pad: " + b"y" * 400_000

CASES: dict[str, tuple[Answer, Fault, int | None, str]] = {
    "no answer": (silent, Fault.DEADLINE, None, "not over after"),
    "stall in the stream": (stalls, Fault.DEADLINE, 200, "not over after"),
    "drip for ever": (drips, Fault.DEADLINE, 200, "not over after"),
    "closed before an answer": (always(b"", keep=False), Fault.CLOSED, None, "before any response"),
    "closed in the headers": (always(b"HTTP/1.1 2", keep=False), Fault.CLOSED, None, "in the response"),
    "closed in the stream": (ends_in_stream, Fault.CLOSED, 200, "in the response"),
    "reset in the stream": (cut_in_stream, Fault.CLOSED, 200, "in the response"),
    "short body": (
        always(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", keep=False),
        Fault.CLOSED,
        200,
        "in the response",
    ),
    "not HTTP": (always(b"220 mail ESMTP\r\n"), Fault.PROTOCOL, None, "not an HTTP/1 response"),
    "bad chunk": (always(STREAM_HEAD + b"zz\r\n"), Fault.PROTOCOL, 200, "not an HTTP/1 response"),
    "flood": (floods, Fault.TOO_LARGE, 200, "more than 200000 bytes"),
    "flood of one-byte reads": (many_small, Fault.TOO_LARGE, 200, "more than 200000 bytes"),
    "endless headers": (always(ENDLESS_HEADERS), Fault.TOO_LARGE, None, "more than 200000 bytes"),
}


@pytest.mark.parametrize("name", CASES)
async def test_how_it_broke(wire: Wire, name: str) -> None:
    answer, fault, status, detail = CASES[name]
    timeout_s = 0.3 if fault is Fault.DEADLINE else 20.0
    async with serving(answer) as server:
        got = await wire.exchange(
            request_to(f"http://127.0.0.1:{server.port}/", timeout_s=timeout_s, max_response_bytes=200_000)
        )
        assert (got.fault, got.status) == (fault, status)
        assert detail in got.fault_detail
        assert got.complete_ns is None
        assert got.sent_ns is not None
        assert (got.headers_ns is None) == (status is None)
        await server.alone()  # the broken connection is closed, not kept


@pytest.mark.parametrize("name", ["stall in the stream", "closed in the stream", "reset in the stream"])
async def test_what_arrived_before_the_break_is_kept(wire: Wire, name: str) -> None:
    answer = CASES[name][0]
    async with serving(answer) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", timeout_s=0.5))
    assert got.content == event("a")


async def test_an_html_page_with_status_200_is_no_fault_of_the_wire(wire: Wire) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>login</html>"
    async with serving(always(page, keep=False)) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/"))
    assert (got.fault, got.status, got.content) == (None, 200, b"<html>login</html>")
    assert got.complete_ns is not None


async def test_the_deadline_is_total_and_names_what_was_pending(wire: Wire) -> None:
    async with serving(silent) as server:
        got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", timeout_s=0.1))
    assert got.fault is Fault.DEADLINE
    assert got.connected_ns is not None
    assert got.headers_ns is None
    assert got.closed_ns - got.started_ns >= 0.1e9


async def test_a_refused_connection(wire: Wire) -> None:
    async with serving(silent) as server:
        port = server.port
    got = await wire.exchange(request_to(f"http://127.0.0.1:{port}/"))
    assert got.fault is Fault.CONNECT
    assert "refused" in got.fault_detail.lower()
    assert f"127.0.0.1:{port}" in got.fault_detail
    assert (got.peer, got.sent_ns, got.connected_ns) == (None, None, None)
    assert got.resolved_ns is not None


async def test_a_name_that_does_not_resolve(wire: Wire) -> None:
    got = await wire.exchange(request_to("http://no-such-host.invalid/"))
    assert got.fault is Fault.DNS
    assert "no-such-host.invalid" in got.fault_detail
    assert got.resolved_ns is None


async def test_a_name_that_no_resolver_can_be_asked_for() -> None:
    wire = Wire(environ={})
    got = await wire.exchange(request_to("http://" + "a" * 70 + ".test/"))
    await wire.aclose()
    assert got.fault is Fault.DNS


async def test_a_hung_resolver_holds_up_nobody_else_and_takes_one_thread_a_name() -> None:
    release = threading.Event()
    asked: list[str] = []

    def lookup(host: str, port: int) -> list[AddressInfo]:
        asked.append(host)
        if host == "hung.test":
            release.wait(20)
        return system_lookup("127.0.0.1", port)

    wire = Wire(environ={}, resolver=Resolver(lookup))
    try:
        async with serving(always(whole(b"{}"))) as server:
            hung = [
                asyncio.create_task(wire.exchange(request_to("http://hung.test/", timeout_s=0.2)))
                for _ in range(50)
            ]
            await asyncio.sleep(0)
            got = await wire.exchange(request_to(f"http://fine.test:{server.port}/"))
            assert got.status == 200
            for each in await asyncio.gather(*hung):
                assert each.fault is Fault.DEADLINE
        assert asked.count("hung.test") == 1
    finally:
        release.set()
        await wire.aclose()


async def test_who_gives_up_waiting_for_a_name_does_not_stop_the_others() -> None:
    release = threading.Event()

    def lookup(host: str, port: int) -> list[AddressInfo]:
        release.wait(20)
        return system_lookup("127.0.0.1", port)

    resolver = Resolver(lookup)
    patient = asyncio.create_task(resolver.resolve("slow.test", 80))
    hasty = asyncio.create_task(resolver.resolve("slow.test", 80))
    await asyncio.sleep(0)
    hasty.cancel()
    await asyncio.gather(hasty, return_exceptions=True)
    release.set()
    assert (await patient)[0][4] == ("127.0.0.1", 80)


async def test_every_read_counts_against_the_memory_a_response_may_take() -> None:
    exchange = Exchange(asyncio.get_running_loop(), Draft(0), 10_000)
    exchange.received(Record(1, 1, 1, b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", kernel=True))
    for _ in range(200):
        exchange.received(Record(1, 1, 1, b"x", kernel=True))
    with pytest.raises(WireError) as raised:
        await exchange.over
    assert raised.value.fault is Fault.TOO_LARGE


async def test_lookups_without_an_answer_are_bounded() -> None:
    release = threading.Event()

    def lookup(host: str, port: int) -> list[AddressInfo]:
        release.wait(20)
        return []

    resolver = Resolver(lookup)
    tasks = [asyncio.create_task(resolver.resolve(f"{n}.test", 80)) for n in range(MAX_LOOKUPS + 1)]
    with pytest.raises(WireError, match="unanswered"):
        await tasks[-1]
    release.set()
    for failed in await asyncio.gather(*tasks[:-1], return_exceptions=True):
        assert isinstance(failed, WireError)


@pytest.mark.parametrize(
    ("held_up_s", "fault"),
    [
        pytest.param((0.8,), Fault.UNATTENDED, id="before the deadline"),
        pytest.param((0.25, 0.25, 0.25), Fault.UNATTENDED, id="several times"),
        pytest.param((2.0,), Fault.UNATTENDED, id="past the deadline"),
        pytest.param((0.0,), Fault.DEADLINE, id="never"),
    ],
)
def test_a_deadline_that_nobody_listened_for_is_not_the_servers(
    held_up_s: tuple[float, ...], fault: Fault
) -> None:
    async def main() -> None:
        async def hold_up() -> None:
            for one_s in held_up_s:
                await asyncio.sleep(0.05)
                time.sleep(one_s)  # noqa: ASYNC251 - what holds the loop up

        wire = Wire(environ={})
        async with serving(silent) as server, asyncio.TaskGroup() as group:
            group.create_task(hold_up())
            got = await wire.exchange(request_to(f"http://127.0.0.1:{server.port}/", timeout_s=1.0))
        await wire.aclose()
        assert got.fault is fault, got.fault_detail

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
