"""The SDK over the wire: what is sent, what comes back, and what never leaves."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from exporter.adapters.openai_api import OpenAiApi
from exporter.adapters.wire.wire import Wire
from exporter.model import request as asked
from exporter.model.target import Connection, KeySource, ProbeSpec, Target
from exporter.model.transcript import Fault, StampSource, Transcript
from tests.adapters.wire_server import (
    DONE,
    END,
    STREAM_HEAD,
    Answer,
    Peer,
    Request,
    Server,
    always,
    chunk,
    event,
    serving,
    whole,
)

BODY: dict[str, object] = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_tokens": 4,
}
STREAM = STREAM_HEAD + chunk(event("a")) + chunk(event("b")) + chunk(DONE) + END
KEY = KeySource(env="THE_KEY")
ENVIRON = {"THE_KEY": " s3cret\n"}


@pytest.fixture
async def api() -> AsyncIterator[OpenAiApi]:
    made = OpenAiApi(Wire(environ={}), ENVIRON)
    yield made
    await made.aclose()


async def chat(api: OpenAiApi, target: Target, spec: ProbeSpec, body: dict[str, object]) -> Transcript:
    return await api.send(target, spec, asked.Request(endpoint=asked.Endpoint.CHAT, body=body))


def target(server: Server, key: KeySource | None = KEY) -> Target:
    return Target(name="t", base_url=f"http://127.0.0.1:{server.port}/v1", model="m", key=key)


def spec(timeout_s: float = 5.0, connection: Connection = Connection.REUSE) -> ProbeSpec:
    return ProbeSpec(
        name="p",
        kind="chat",
        every_s=1.0,
        timeout_s=timeout_s,
        stall_timeout_s=timeout_s,
        connection=connection,
        params=None,
    )


async def test_the_request_is_the_sdks_and_the_answer_the_wires(api: OpenAiApi) -> None:
    async with serving(always(STREAM)) as server:
        got = await chat(api, target(server), spec(), BODY)
        again = await chat(api, target(server), spec(), BODY)
    assert (got.fault, got.status, got.content) == (None, 200, event("a") + event("b") + DONE)
    assert got.complete_ns is not None
    assert got.stamps is StampSource.KERNEL
    assert again.reused
    request = server.requests[0]
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert json.loads(request.body) == BODY
    assert request.headers["authorization"] == "Bearer s3cret"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("AsyncOpenAI/Python")
    assert request.headers["host"] == f"127.0.0.1:{server.port}"


async def test_parameters_the_sdk_does_not_know_are_sent_too(api: OpenAiApi) -> None:
    body = {**BODY, "ignore_eos": True, "min_tokens": 4}
    async with serving(always(STREAM)) as server:
        await chat(api, target(server), spec(), body)
    assert json.loads(server.requests[0].body) == body


@pytest.mark.parametrize(
    "status", ["302 Found", "400 Bad", "401 No", "404 No", "429 Slow", "500 Bad", "503 No"]
)
async def test_a_status_the_sdk_raises_for_comes_back_as_it_was(api: OpenAiApi, status: str) -> None:
    error = b'{"error":{"message":"no","type":"t","code":"c"}}'
    extra = "Location: http://127.0.0.1:1/elsewhere\r\nRetry-After: 7\r\n"
    async with serving(always(whole(error, status=status, extra=extra))) as server:
        got = await chat(api, target(server), spec(), BODY)
    assert (got.fault, got.status, got.content) == (None, int(status[:3]), error)
    assert got.header("retry-after") == "7"
    assert got.header("location") == "http://127.0.0.1:1/elsewhere"
    assert len(server.requests) == 1  # neither tried again nor followed


BROKEN: dict[str, tuple[Answer, Fault]] = {
    "closed": (always(b"", keep=False), Fault.CLOSED),
    "not HTTP": (always(b"220 hello\r\n"), Fault.PROTOCOL),
    "cut": (always(STREAM_HEAD + chunk(event("a")), keep=False), Fault.CLOSED),
    "cut error": (always(whole(b"{}", status="500 X").replace(b": 2", b": 9"), keep=False), Fault.CLOSED),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_exchange_is_not_raised(api: OpenAiApi, name: str) -> None:
    answer, fault = BROKEN[name]
    async with serving(answer) as server:
        got = await chat(api, target(server), spec(), BODY)
    assert got.fault is fault
    assert len(server.requests) == 1


HOSTILE = {
    "HTML": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
    "error that is no JSON": whole(b"<html>", status="500 Bad"),
    "error that is not UTF-8": whole(b"\xff\xfe", status="500 Bad"),
    "claims gzip": whole(b"nonsense", status="500 Bad", extra="Content-Encoding: gzip\r\n"),
    "odd charset": b"HTTP/1.1 500 X\r\nContent-Type: a/b; charset=zz\r\nContent-Length: 2\r\n\r\n{}",
    "bad location": whole(b"", status="301 X", extra="Location: http://[::bad\r\n"),
    "bad retry-after": whole(b"{}", status="429 X", extra="Retry-After: soon\r\n"),
    "error is a list": whole(b"[1]", status="400 X"),
    "latin-1 header": whole(b"{}", status="400 X", extra="X-A: \xe9\r\n").replace("é".encode(), b"\xe9"),
    "odd status": b"HTTP/1.1 799 X\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_no_answer_makes_it_raise(api: OpenAiApi, name: str) -> None:
    async with serving(always(HOSTILE[name])) as server:
        got = await chat(api, target(server), spec(), BODY)
    assert got.fault is None
    assert got.status == int(HOSTILE[name].split()[1])


async def test_the_deadline_is_the_specs(api: OpenAiApi) -> None:
    async def drip(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD)
        while not peer.reader.at_eof():
            await peer.send(chunk(b": ping\n\n"))
            await asyncio.sleep(0.01)

    async with serving(drip) as server:
        got = await chat(api, target(server), spec(0.2), BODY)
    assert (got.fault, got.status) == (Fault.DEADLINE, 200)
    assert got.closed_ns - got.started_ns >= 0.2e9


async def test_cancelling_closes_the_connection_and_is_not_swallowed(api: OpenAiApi) -> None:
    async def hang(peer: Peer, request: Request) -> None:
        await peer.send(STREAM_HEAD)
        await peer.reader.read()

    async with serving(hang) as server:
        task = asyncio.create_task(chat(api, target(server), spec(30.0), BODY))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.alone()


async def test_a_fresh_probe_opens_and_closes_its_connection(api: OpenAiApi) -> None:
    async with serving(always(STREAM)) as server:
        for _ in range(3):
            got = await chat(api, target(server), spec(connection=Connection.FRESH), BODY)
            assert not got.reused
            await server.alone()
    assert server.connections == 3


async def test_a_key_file_is_read_at_every_use(tmp_path: Path) -> None:
    path = tmp_path / "key"
    api = OpenAiApi(Wire(environ={}), {})
    async with serving(always(STREAM)) as server:
        for key in ("one", "two"):
            path.write_text(f"\n  {key}  \n")
            await chat(api, target(server, KeySource(file=str(path))), spec(), BODY)
    await api.aclose()
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer one", "Bearer two"]


async def test_concurrent_probes_with_different_keys_do_not_mix_them(api: OpenAiApi, tmp_path: Path) -> None:
    sources = []
    for number in range(8):
        (tmp_path / f"key{number}").write_text(f"key{number}")
        sources.append(KeySource(file=str(tmp_path / f"key{number}")))
    async with serving(always(STREAM)) as server:
        await asyncio.gather(
            *(
                chat(api, target(server, source), spec(), {**BODY, "user": f"key{number}"})
                for number, source in enumerate(sources)
            )
        )
    for request in server.requests:
        assert request.headers["authorization"] == f"Bearer {json.loads(request.body)['user']}"
    assert len(server.requests) == 8


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param(KeySource(env="UNSET_KEY"), "UNSET_KEY", id="unset"),
        pytest.param(KeySource(env="EMPTY_KEY"), "EMPTY_KEY", id="empty"),
        pytest.param(KeySource(env="BROKEN_KEY"), "BROKEN_KEY", id="line break inside"),
        pytest.param(KeySource(env="FANCY_KEY"), "FANCY_KEY", id="not ASCII"),
        pytest.param(KeySource(file="/nonexistent/key"), "/nonexistent/key", id="no file"),
        pytest.param(KeySource(file="/"), "key file /", id="a directory"),
        pytest.param(KeySource(file="/dev/zero"), "key file /dev/zero", id="a device without end"),
    ],
)
async def test_without_its_key_nothing_is_sent(source: KeySource, names: str) -> None:
    environ = {"EMPTY_KEY": "  ", "BROKEN_KEY": "s3cret\nX-Evil: 1", "FANCY_KEY": "s3cret\u2026"}
    api = OpenAiApi(Wire(environ={}), environ)
    async with serving(always(STREAM)) as server:
        got = await chat(api, target(server, source), spec(), BODY)
    await api.aclose()
    assert got.fault is Fault.NO_KEY
    assert names in got.fault_detail
    assert "s3cret" not in repr(got)
    assert server.connections == 0


async def test_a_key_file_that_is_a_pipe_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key")
    api = OpenAiApi(Wire(environ={}), {})
    async with serving(always(STREAM)) as server:
        got = await chat(api, target(server, KeySource(file=str(tmp_path / "key"))), spec(), BODY)
    await api.aclose()
    assert got.fault is Fault.NO_KEY
    assert "key cannot be read: a pipe" in got.fault_detail


async def test_without_a_key_no_authorization_is_sent_whatever_the_environment_holds(
    api: OpenAiApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "another-hosts-secret")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "Authorization: Bearer another-hosts-secret\nX-Own: another-hosts-secret"
    )
    async with serving(always(STREAM)) as server:
        bare = await chat(api, target(server, None), spec(), BODY)
        keyed = await chat(api, target(server), spec(), BODY)
    assert (bare.status, keyed.status) == (200, 200)
    without, having = server.requests
    assert "authorization" not in without.headers
    assert having.headers["authorization"] == "Bearer s3cret"
    assert "another-hosts-secret" not in repr(server.requests)


async def test_a_servers_cookies_are_not_sent_back(api: OpenAiApi) -> None:
    async with serving(always(whole(b"{}", extra="Set-Cookie: a=b\r\n"))) as server:
        for _ in range(2):
            await chat(api, target(server), spec(), BODY)
    assert "cookie" not in server.requests[1].headers


async def test_the_key_is_in_no_log_and_no_text(api: OpenAiApi, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(always(whole(b"{}", status="401 No"))) as server:
        got = await chat(api, target(server), spec(), BODY)
    assert got.status == 401
    assert "s3cret" not in caplog.text + repr(got) + repr(api)


async def test_an_url_that_cannot_be_requested_is_a_fault(api: OpenAiApi) -> None:
    odd = Target(name="t", base_url="http://127.0.0.1:99999/v1", model="m")
    got = await chat(api, odd, spec(), BODY)
    assert got.fault is not None
    assert got.status is None


async def test_clients_of_departed_targets_are_let_go(api: OpenAiApi) -> None:
    async with serving(always(STREAM)) as one, serving(always(STREAM)) as other:
        for server in (one, other, one):
            assert (await chat(api, target(server), spec(), BODY)).status == 200
        sdk = await api._prepared()
        assert len(sdk._clients) == 2
        await api.keep_only({target(one).base_url})
        assert len(sdk._clients) == 1
        assert (await chat(api, target(other), spec(), BODY)).status == 200
