"""Which requests go through a proxy, and how."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import trustme

from exporter.adapters.wire.faults import WireError
from exporter.adapters.wire.proxy import Proxy, choose_proxy
from exporter.adapters.wire.request import split_url
from exporter.adapters.wire.wire import Wire
from exporter.model.target import TlsOptions
from exporter.model.transcript import Fault
from tests.adapters.wire_server import (
    Peer,
    Request,
    always,
    request_to,
    server_context,
    serving,
    whole,
)

BOTH = {"HTTPS_PROXY": "http://secure.test:3128", "HTTP_PROXY": "http://plain.test:8080"}
SECURE, PLAIN = Proxy("secure.test", 3128), Proxy("plain.test", 8080)
API = "https://api.example.com/"
CHOICES: dict[str, tuple[str, str | None, dict[str, str], Proxy | None]] = {
    "none": (API, None, {}, None),
    "https": (API, None, BOTH, SECURE),
    "http": ("http://api.example.com/", None, BOTH, PLAIN),
    "lower case first": (API, None, {**BOTH, "https_proxy": "http://low.test:1"}, Proxy("low.test", 1)),
    "without scheme": (API, None, {"HTTPS_PROXY": "p.test:99"}, Proxy("p.test", 99)),
    "without port": (API, None, {"HTTPS_PROXY": "http://p.test"}, Proxy("p.test", 80)),
    "empty is unset": (API, None, {"HTTPS_PROXY": ""}, None),
    "configured wins": (API, "http://mine.test:7", BOTH, Proxy("mine.test", 7)),
    "configured wins over NO_PROXY": (API, "http://mine.test:7", {"NO_PROXY": "*"}, Proxy("mine.test", 7)),
    "credentials": (API, "http://us%40er:p%3Aw@h.test:1", {}, Proxy("h.test", 1, "Basic dXNAZXI6cDp3")),
    "CGI": ("http://a.test/", None, {"HTTP_PROXY": "http://evil.test:1", "REQUEST_METHOD": "GET"}, None),
    "loopback name": ("https://localhost:1/", None, BOTH, None),
    "loopback v4": ("https://127.0.0.9/", None, BOTH, None),
    "loopback v6": ("https://[::1]/", None, BOTH, None),
    "loopback, configured": ("https://127.0.0.1/", "http://mine.test:7", {}, None),
    "NO_PROXY *": (API, None, {**BOTH, "NO_PROXY": "*"}, None),
    "NO_PROXY name": (API, None, {**BOTH, "NO_PROXY": "a.test, api.example.com"}, None),
    "NO_PROXY domain": (API, None, {**BOTH, "NO_PROXY": "example.com"}, None),
    "NO_PROXY .domain": (API, None, {**BOTH, "NO_PROXY": ".example.com"}, None),
    "NO_PROXY *.domain": (API, None, {**BOTH, "no_proxy": "*.example.com"}, None),
    "NO_PROXY part of a name": (API, None, {**BOTH, "NO_PROXY": "ple.com"}, SECURE),
    "NO_PROXY port": (API, None, {**BOTH, "NO_PROXY": "api.example.com:443"}, None),
    "NO_PROXY other port": (API, None, {**BOTH, "NO_PROXY": "api.example.com:8443"}, SECURE),
    "NO_PROXY address": ("https://10.1.2.3/", None, {**BOTH, "NO_PROXY": "10.1.2.3"}, None),
    "NO_PROXY network": ("https://10.1.2.3/", None, {**BOTH, "NO_PROXY": "10.0.0.0/8"}, None),
    "NO_PROXY other network": ("https://11.1.2.3/", None, {**BOTH, "NO_PROXY": "10.0.0.0/8"}, SECURE),
    "NO_PROXY v6": ("https://[fd00::1]/", None, {**BOTH, "NO_PROXY": "[fd00::1]"}, None),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_choice_of_a_proxy(name: str) -> None:
    url, configured, environ, expected = CHOICES[name]
    origin, _ = split_url(url)
    assert choose_proxy(origin, configured, environ) == expected


@pytest.mark.parametrize("url", ["socks5://p.test:1", "https://p.test", "http://:1", "http://p.test:x"])
def test_a_proxy_that_cannot_be_used_is_refused_without_showing_its_url(url: str) -> None:
    with pytest.raises(WireError) as raised:
        choose_proxy(split_url(API)[0], url.replace("//", "//u:s3cret@"), {})
    assert raised.value.fault is Fault.PROXY
    assert "s3cret" not in raised.value.detail


@contextlib.asynccontextmanager
async def tunnelling(to_port: int, status: bytes = b"200 Fine") -> AsyncIterator[tuple[int, list[Request]]]:
    """A CONNECT proxy that leads every tunnel to one port of this machine."""
    asked: list[Request] = []

    async def answer(peer: Peer, request: Request) -> bool:
        asked.append(request)
        await peer.send(b"HTTP/1.1 " + status + b"\r\nVia: test\r\n\r\n")
        if not status.startswith(b"2"):
            return False
        reader, writer = await asyncio.open_connection("127.0.0.1", to_port)
        await asyncio.gather(_pump(peer.reader, writer), _pump(reader, peer.writer))
        return False

    async with serving(answer) as server:
        yield server.port, asked


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def test_https_goes_through_a_tunnel(wire: Wire, authority: trustme.CA, ca_file: str) -> None:
    tls = server_context(authority, "api.test")
    async with serving(always(whole(b"{}")), tls=tls) as server, tunnelling(server.port) as (port, asked):
        request = request_to(
            "https://api.test/v1",
            tls=TlsOptions(ca_file=ca_file),
            proxy=f"http://user:pass@127.0.0.1:{port}",
            headers=(("Authorization", "Bearer key"),),
        )
        first = await wire.exchange(request)
        again = await wire.exchange(request)
    assert (first.fault_detail, first.status) == ("", 200)
    assert (first.peer, first.tls_version) == (f"127.0.0.1:{port}", "TLSv1.3")
    assert (again.status, again.reused) == (200, True)
    (connect,) = asked
    assert connect.line == "CONNECT api.test:443 HTTP/1.1"
    assert connect.headers["host"] == "api.test:443"
    assert connect.headers["proxy-authorization"] == "Basic dXNlcjpwYXNz"
    assert "authorization" not in connect.headers
    assert server.requests[0].line == "POST /v1 HTTP/1.1"
    assert "proxy-authorization" not in server.requests[0].headers


async def test_the_environments_proxy_and_its_exceptions(authority: trustme.CA, ca_file: str) -> None:
    tls = server_context(authority, "api.test")
    async with serving(always(whole(b"{}")), tls=tls) as server, tunnelling(server.port) as (port, asked):
        environ = {"HTTPS_PROXY": f"http://127.0.0.1:{port}"}
        wire = Wire(environ=environ)
        request = request_to("https://api.test/", tls=TlsOptions(ca_file=ca_file))
        assert (await wire.exchange(request)).status == 200
        environ["NO_PROXY"] = "api.test"
        assert (await wire.exchange(request)).fault is Fault.DNS  # straight to a name that does not exist
        await wire.aclose()
    assert len(asked) == 1


@pytest.mark.parametrize("status", [b"407 Proxy Authentication Required", b"502 Bad Gateway"])
async def test_a_proxy_that_makes_no_tunnel(wire: Wire, status: bytes) -> None:
    async with tunnelling(1, status) as (port, _):
        got = await wire.exchange(request_to("https://api.test/", proxy=f"http://127.0.0.1:{port}"))
    assert got.fault is Fault.PROXY
    assert status.split()[0].decode() in got.fault_detail
    assert (got.status, got.sent_ns) == (None, None)


@pytest.mark.parametrize(
    ("answer", "detail"),
    [(b"SSH-2.0\r\n", "not an HTTP"), (b"", "closed the connection"), (b"HTTP/1.1 200 K\r\nA: ", "closed")],
)
async def test_a_proxy_that_is_none(wire: Wire, answer: bytes, detail: str) -> None:
    async with serving(always(answer, keep=False)) as server:
        got = await wire.exchange(request_to("https://api.test/", proxy=f"http://127.0.0.1:{server.port}"))
    assert got.fault is Fault.PROXY
    assert detail in got.fault_detail


async def test_a_proxy_whose_answer_does_not_end(wire: Wire) -> None:
    async with serving(always(b"HTTP/1.1 200 K\r\nA: " + b"x" * 300_000)) as server:
        got = await wire.exchange(request_to("https://api.test/", proxy=f"http://127.0.0.1:{server.port}"))
    assert got.fault is Fault.PROXY


async def test_a_proxy_that_is_not_there(wire: Wire) -> None:
    async with serving(always(b"")) as server:
        port = server.port
    got = await wire.exchange(request_to("https://api.test/", proxy=f"http://127.0.0.1:{port}"))
    assert got.fault is Fault.PROXY
    assert "refused" in got.fault_detail


async def test_plain_http_is_asked_of_the_proxy_in_absolute_form(wire: Wire) -> None:
    async with serving(always(whole(b"{}"))) as proxy:
        got = await wire.exchange(
            request_to("http://api.test:8000/v1?a=b", proxy=f"http://user:pass@127.0.0.1:{proxy.port}")
        )
    assert got.status == 200
    (request,) = proxy.requests
    assert request.line == "POST http://api.test:8000/v1?a=b HTTP/1.1"
    assert request.headers["host"] == "api.test:8000"
    assert request.headers["proxy-authorization"] == "Basic dXNlcjpwYXNz"
