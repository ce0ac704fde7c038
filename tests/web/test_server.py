"""Clients that are many, slow, silent or malformed, on real sockets."""

import asyncio
import contextlib
import dataclasses
import socket
import struct
import threading

import aiohttp
import pytest

from exporter.web.answers import Exposition, Reloaded
from exporter.web.limits import Limits
from exporter.web.server import ListenError, WebServer
from tests.web.web_site import ANSWERS, Site


async def raw(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        async with asyncio.timeout(8):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_a_slow_rendering_holds_up_nobody_else(serve) -> None:
    release = threading.Event()
    threads = set()

    def slow(accept: str) -> Exposition:
        threads.add(threading.current_thread())
        release.wait(20)
        return Exposition(b"up 1\n", "text/plain")

    site = await serve(render=slow, limits=Limits(scrapes=3))
    scrapes = [asyncio.create_task(site.ask("GET", "/metrics")) for _ in range(3)]
    while not threads:  # noqa: ASYNC110 - set on another thread
        await asyncio.sleep(0.005)
    for _ in range(5):
        assert (await site.ask("GET", "/-/healthy"))[0] == 200
    assert not any(scrape.done() for scrape in scrapes)
    status, response, body = await site.ask("GET", "/metrics")
    assert status == 503
    assert response.headers["Retry-After"] == "1"
    assert body == b"3 scrapes are in service; scrape less often\n"
    release.set()
    assert [status for status, _, _ in await asyncio.gather(*scrapes)] == [200, 200, 200]
    assert threads == {thread for thread in threads if thread is not threading.main_thread()}
    assert len(threads) == 1
    assert (await site.ask("GET", "/metrics"))[0] == 200


async def test_a_client_that_does_not_take_its_scrape_is_cut_off(serve) -> None:
    big = Exposition(b"x" * 32_000_000, "text/plain")
    site: Site = await serve(render=lambda accept: big, limits=Limits(scrapes=1, send_s=0.3))
    slow = socket.create_connection(("127.0.0.1", site.port))
    slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    statuses = []
    async with asyncio.timeout(20):
        while 503 not in statuses:
            statuses.append((await site.ask("HEAD", "/metrics"))[0])
        while statuses[-1] != 200:
            statuses.append((await site.ask("HEAD", "/metrics"))[0])
    slow.settimeout(20)
    with slow, contextlib.suppress(ConnectionResetError):
        received = sum(map(len, iter(lambda: slow.recv(65536), b"")))
        assert received < len(big.body)


async def test_a_client_that_goes_away_is_not_an_error(serve, caplog) -> None:
    rendering, go_on = threading.Event(), threading.Event()

    def slow(accept: str) -> Exposition:
        rendering.set()
        go_on.wait(20)
        return Exposition(b"x" * 32_000_000, "text/plain")

    site = await serve(render=slow, limits=Limits(scrapes=1))
    gone = socket.create_connection(("127.0.0.1", site.port))
    gone.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.to_thread(rendering.wait, 20)
    go_on.set()
    await asyncio.to_thread(gone.recv, 1)
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    gone.close()
    async with asyncio.timeout(20):
        while (await site.ask("HEAD", "/metrics"))[0] != 200:
            pass
    assert caplog.text == ""


async def test_a_body_that_claims_to_be_packed_is_not_unpacked(serve, caplog) -> None:
    site = await serve()
    head = b"POST /-/reload HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Encoding: gzip\r\n"
    answer = await raw(site.port, head + b"Content-Length: 5\r\n\r\nabcde")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert caplog.text == ""


async def test_silent_and_dribbling_connections_are_closed(serve) -> None:
    site = await serve(limits=Limits(idle_s=0.3))

    async def dribble() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.write(b"GET / HTTP/1.1\r\n")
        for _ in range(1000):
            if reader.at_eof():
                break
            writer.write(b"X: y\r\n")
            await asyncio.sleep(0.02)
        writer.close()
        return b"closed" if reader.at_eof() else b""

    assert await asyncio.gather(raw(site.port, b""), raw(site.port, b"GET / HT"), dribble()) == [
        b"",
        b"",
        b"closed",
    ]


async def test_a_body_that_never_comes_holds_no_connection(serve) -> None:
    site = await serve(limits=Limits(linger_s=0.1))
    answer = await raw(site.port, b"POST /-/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_connections_beyond_the_bound_are_closed_at_once(serve) -> None:
    site = await serve(limits=Limits(connections=3))
    held = [await asyncio.open_connection("127.0.0.1", site.port) for _ in range(3)]
    for _, writer in held:
        writer.write(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
    for reader, _ in held:
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    assert await raw(site.port, b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n") == b""
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    async with asyncio.timeout(20):
        answer = b""
        while not answer:
            answer = await raw(site.port, b"GET /-/healthy HTTP/1.0\r\n\r\n")


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"NONSENSE\r\n\r\n", id="no request line"),
        pytest.param(
            b"GET / HTTP/1.1\r\nHost: x\r\nSecret: " + b"s" * 20_000 + b"\r\n\r\n", id="a huge header"
        ),
        pytest.param(b"GET /" + b"s" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", id="a huge path"),
    ],
)
async def test_malformed_requests_get_a_plain_400(serve, request_bytes) -> None:
    site = await serve()
    answer = await raw(site.port, request_bytes)
    assert answer.startswith((b"HTTP/1.0 400", b"HTTP/1.1 400"))
    assert b"Server: inference-exporter\r\n" in answer
    assert answer.endswith(b"\r\n\r\nthe request could not be understood\n")
    assert b"aiohttp" not in answer
    assert b"ssss" not in answer
    assert (await site.ask("GET", "/-/healthy"))[0] == 200


async def test_the_host_header_is_never_echoed(serve) -> None:
    site = await serve()
    for path in (b"/", b"/-/ready/", b"//evil.example/%2e%2e"):
        answer = await raw(
            site.port, b"GET " + path + b" HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        )
        assert b"evil.example" not in answer
        assert b"Location" not in answer


async def test_a_port_in_use_is_a_clear_error(serve) -> None:
    site = await serve()
    with pytest.raises(ListenError) as caught:
        await WebServer(ANSWERS).start("127.0.0.1", site.port)
    message = str(caught.value)
    assert message.startswith(f"cannot listen on 127.0.0.1:{site.port}: ")
    assert "in use" in message
    assert message.endswith("stop the process that holds it, or choose another address with --listen")


async def test_an_address_that_is_not_ours_is_a_clear_error() -> None:
    with pytest.raises(
        ListenError, match=r"cannot listen on 192\.0\.2\.1:0: .*this machine has no such address"
    ):
        await WebServer(ANSWERS).start("192.0.2.1", 0)


async def test_stopping_does_not_wait_for_idle_connections() -> None:
    server = WebServer(ANSWERS)
    port = await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
    await reader.readuntil(b"healthy\n")
    async with asyncio.timeout(20):
        await server.stop(60)
        assert await reader.read() == b""
    writer.close()


async def test_stopping_lets_a_request_finish_and_takes_no_more() -> None:
    entered, release = asyncio.Event(), asyncio.Event()

    async def slow_reload() -> Reloaded:
        entered.set()
        await release.wait()
        return Reloaded(True, "done")

    server = WebServer(dataclasses.replace(ANSWERS, reload=slow_reload))
    port = await server.start("127.0.0.1", 0)
    async with aiohttp.ClientSession() as client:
        asked = asyncio.create_task(Site(port, client).ask("POST", "/-/reload"))
        await entered.wait()
        stopping = asyncio.create_task(server.stop(20))
        await asyncio.sleep(0.05)
        assert not stopping.done()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        release.set()
        assert (await asked)[::2] == (200, b"done\n")
        await stopping
