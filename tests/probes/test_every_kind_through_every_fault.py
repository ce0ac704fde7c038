"""Every kind through every fault, over real sockets: called by its name, never retried, never leaking."""

import asyncio
import json
import socket
from pathlib import Path

import pytest

from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import KeySource
from exporter.probes import KINDS
from exporter.probes.base import Api
from tests.fakes.scripted_server import Close, Reset, ScriptedServer, Send, Stall, Step, plain, streaming
from tests.model.streams import event
from tests.probes.goods import BODIES, STREAMS, good
from tests.probes.sockets import KEY, SOON
from tests.probes.specs import doors, spec, target

ERROR = json.dumps({"error": {"message": f"bad key {KEY}", "code": "model_overloaded"}})
CUT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
ANY = {
    "bad request": (plain(ERROR, "400 Bad Request"), {}, Outcome.HTTP_4XX),
    "unauthorised": (plain(ERROR, "401 Unauthorized"), {}, Outcome.AUTH),
    "forbidden": (plain("no", "403 Forbidden", "text/plain"), {}, Outcome.AUTH),
    "too many requests": (plain(ERROR, "429 Too Many Requests"), {}, Outcome.RATE_LIMITED),
    "a server error": (plain("oops", "500 Internal Server Error", "text/plain"), {}, Outcome.HTTP_5XX),
    "a redirect": (
        [Send(b"HTTP/1.1 307 R\r\nLocation: http://example.invalid/\r\nContent-Length: 0\r\n\r\n")],
        {},
        Outcome.HTTP_3XX,
    ),
    "not HTTP": ([Send(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), Close()], {}, Outcome.INVALID_RESPONSE),
    "closed before any response": ([Close()], {}, Outcome.CONNECT),
    "reset before any response": ([Reset()], {}, Outcome.CONNECT),
    "a cut body": ([Send(CUT), Close()], {}, Outcome.STREAM_TRUNCATED),
    "a reset in the body": ([Send(CUT), Send(b"", 0.05), Reset()], {}, Outcome.STREAM_TRUNCATED),
}
JSON_ONLY = {
    "HTML with 200": (plain("<html></html>", content_type="text/html"), {}, Outcome.INVALID_RESPONSE),
    "bad JSON": (plain("{bad"), {}, Outcome.INVALID_RESPONSE),
    "a list": (plain("[1, 2]"), {}, Outcome.INVALID_RESPONSE),
    "another object": (plain('{"x": 1}'), {}, Outcome.INVALID_RESPONSE),
    "an error with 200": (plain(ERROR), {}, Outcome.STREAM_ERROR),
}
WHOLE = {
    "no headers": ([Stall()], SOON, Outcome.TIMEOUT_TOTAL),
    "half a body": ([Send(CUT), Stall()], SOON, Outcome.TIMEOUT_TOTAL),
}


def streamed(first: str, last: str) -> dict[str, tuple[list[Step], dict, Outcome]]:
    return {
        "no headers": ([Stall()], SOON, Outcome.TIMEOUT_FIRST_TOKEN),
        "silence after a token": (streaming((0.0, first), end=(Stall(),)), SOON, Outcome.TIMEOUT_STALL),
        "a clean truncation": (streaming((0.0, first)), {}, Outcome.STREAM_TRUNCATED),
        "a cut": (streaming((0.0, first), end=(Close(),)), {}, Outcome.STREAM_TRUNCATED),
        "an error in the stream": (
            streaming((0.0, first), (0.0, "event: error\n" + event(error={"code": "x"}))),
            {},
            Outcome.STREAM_ERROR,
        ),
        "bad JSON": (
            streaming((0.0, first), (0.0, "data: {bad\n\n"), (0.0, last)),
            {},
            Outcome.INVALID_RESPONSE,
        ),
        "an end without a token": (streaming((0.0, last)), {}, Outcome.EMPTY),
        "a whole body": (plain(json.dumps({"choices": [], "output": []})), {}, Outcome.INVALID_RESPONSE),
        "HTML with 200": (plain("<html></html>", content_type="text/html"), {}, Outcome.INVALID_RESPONSE),
    }


def faults_of(kind: str) -> dict[str, tuple[list[Step], dict, Outcome]]:
    if kind in STREAMS:
        return ANY | streamed(*STREAMS[kind])
    return ANY | WHOLE | ({} if kind == "http" else JSON_ONLY)


CASES = [(kind, name, *case) for kind in KINDS for name, case in faults_of(kind).items()]


async def probe(api: Api, kind: str, url: str, **more: object) -> ProbeResult:
    about = target(url, key=KeySource(env="KEY"))
    return await KINDS[kind].run(about, spec(kind, **more), doors(api))


def test_every_kind_has_a_good_answer() -> None:
    assert set(KINDS) == set(STREAMS) | set(BODIES)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_good_answer_is_good(api: Api, kind: str) -> None:
    async with ScriptedServer(good(kind)) as server:
        result = await probe(api, kind, server.url)
        (request,) = server.requests
    assert (result.outcome, result.detail) == (Outcome.OK, "")
    assert result.timing.e2e is not None
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.path.startswith("/v1/")
    assert (result.connection.http_version, result.connection.family) == ("1.1", "ipv4")


@pytest.mark.parametrize(
    ("kind", "_", "script", "more", "outcome"), CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES]
)
async def test_how_it_ends(
    api: Api, kind: str, _: str, script: list[Step], more: dict, outcome: Outcome
) -> None:
    async with ScriptedServer(script) as server:
        result = await probe(api, kind, server.url, **more)
        assert len(server.requests) == 1
    assert result.outcome is outcome, result.detail
    assert result.detail
    assert KEY not in repr(result)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refused_connection(api: Api, kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    result = await probe(api, kind, f"http://127.0.0.1:{port}/v1")
    assert result.outcome is Outcome.CONNECT, result.detail


@pytest.mark.parametrize("kind", KINDS)
async def test_a_handshake_that_hangs(api: Api, kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        result = await probe(api, kind, f"https://127.0.0.1:{mute.getsockname()[1]}/v1", **SOON)
    assert result.outcome is Outcome.TIMEOUT_CONNECT, result.detail


@pytest.mark.parametrize("kind", KINDS)
async def test_a_key_that_is_not_there_sends_nothing(api: Api, kind: str) -> None:
    async with ScriptedServer(good(kind)) as server:
        about = target(server.url, key=KeySource(env="NOT_SET"))
        result = await KINDS[kind].run(about, spec(kind), doors(api))
        assert (result.outcome, server.connections) == (Outcome.AUTH, 0)
    assert "NOT_SET" in result.detail


@pytest.mark.parametrize("kind", KINDS)
async def test_a_cancelled_probe_gives_its_descriptors_back(api: Api, kind: str) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async with ScriptedServer([Stall()]) as server:
        before = descriptors()
        task = asyncio.create_task(probe(api, kind, server.url))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.alone()
        assert descriptors() == before
