"""The chat kind over real sockets: connecting, TLS, the key, the request, reuse."""

import asyncio
import socket
import ssl
from pathlib import Path

import pytest
import trustme

from exporter.model.outcome import Outcome
from exporter.model.target import Connection, KeySource, TlsOptions
from exporter.probes.base import Api
from exporter.probes.chat import Params
from tests.fakes.scripted_server import (
    END,
    Close,
    Reset,
    ScriptedServer,
    Send,
    Stall,
    chunk,
    head,
    streaming,
)
from tests.model.streams import DONE, role, stop, text
from tests.probes.sockets import GOOD, KEY, SOON, TOKENS, probe


async def test_a_refused_connection(api: Api) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    result = await probe(api, f"http://127.0.0.1:{port}/v1")
    assert result.outcome is Outcome.CONNECT, result.detail
    assert result.reused is None


async def test_a_name_that_does_not_resolve(api: Api) -> None:
    result = await probe(api, "http://no-such-host.invalid/v1", timeout_s=20.0)
    assert result.outcome is Outcome.DNS, result.detail


async def test_a_handshake_that_hangs(api: Api) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        result = await probe(api, f"https://127.0.0.1:{mute.getsockname()[1]}/v1", **SOON)
    assert result.outcome is Outcome.TIMEOUT_CONNECT, result.detail
    assert result.phases is not None
    assert result.phases.tls_s is not None
    assert result.phases.tls_s > result.phases.total_s / 2


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


async def test_an_untrusted_certificate(api: Api, server_tls: ssl.SSLContext) -> None:
    async with ScriptedServer(GOOD, tls=server_tls) as server:
        result = await probe(api, server.url)
        assert server.requests == []
    assert result.outcome is Outcome.TLS, result.detail


async def test_a_trusted_certificate(
    api: Api, server_tls: ssl.SSLContext, authority: trustme.CA, tmp_path: Path
) -> None:
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    async with ScriptedServer(GOOD, tls=server_tls) as server:
        result = await probe(api, server.url, tls=TlsOptions(ca_file=str(ca_file)))
    assert result.outcome is Outcome.OK, result.detail
    assert result.phases is not None
    assert result.phases.tls_s is not None
    assert result.phases.tls_s > 0
    assert result.certificate_expiry_unix_s is not None


async def test_a_missing_key_sends_nothing(api: Api) -> None:
    async with ScriptedServer(GOOD) as server:
        result = await probe(api, server.url, key=KeySource(env="NOT_SET"))
        assert (server.requests, server.connections) == ([], 0)
    assert result.outcome is Outcome.AUTH
    assert "NOT_SET" in result.detail


async def test_the_request_as_the_server_saw_it(api: Api) -> None:
    async with ScriptedServer(GOOD) as server:
        params = Params(prompt="hi", extra_body={"top_k": 1})
        await probe(api, server.url, params=params, key=KeySource(env="KEY"))
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.json == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 64,
        "stream": True,
        "temperature": 0.0,
        "stream_options": {"include_usage": True},
        "top_k": 1,
    }


async def test_without_a_key_no_authorization_is_sent(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the one that the environment holds for the SDK: it may be meant for another host."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    async with ScriptedServer(GOOD) as server:
        result = await probe(api, server.url)
    assert result.outcome is Outcome.OK, result.detail
    (request,) = server.requests
    assert "authorization" not in request.headers
    assert "openai-organization" not in request.headers
    assert request.headers.get("accept-encoding", "identity") == "identity"


async def test_a_kept_connection_is_used_again_and_said_so(api: Api) -> None:
    async with ScriptedServer(GOOD) as server:
        results = [await probe(api, server.url) for _ in range(3)]
        assert server.connections == 1
    assert [result.reused for result in results] == [False, True, True]
    assert all(
        result.phases and (result.phases.connect_s is None) is bool(result.reused) for result in results
    )


async def test_a_fresh_connection_each_time(api: Api) -> None:
    async with ScriptedServer(GOOD) as server:
        results = [await probe(api, server.url, connection=Connection.FRESH) for _ in range(3)]
        assert server.connections == 3
    assert [result.reused for result in results] == [False] * 3


async def test_a_cancelled_probe_leaves_nothing_behind(api: Api) -> None:
    async with ScriptedServer(streaming(*TOKENS, end=(Stall(),)), GOOD) as server:
        task = asyncio.create_task(probe(api, server.url))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        after = await probe(api, server.url)
        assert server.connections == 2
    assert after.outcome is Outcome.OK, after.detail


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_streams_cut_at_any_point_cost_no_descriptor(api: Api) -> None:
    payload = (role() + text() * 2 + stop() + DONE).encode()
    whole = head() + chunk(payload) + END
    cuts = range(0, len(whole) - len(END), len(whole) // 60)
    scripts = [[Send(whole[:cut]), Close() if cut % 2 else Reset()] for cut in cuts]
    async with ScriptedServer(*scripts, GOOD) as server:
        before = open_descriptors()
        broken = [await probe(api, server.url) for _ in cuts]
        last = await probe(api, server.url)
        await asyncio.sleep(0)
        after = open_descriptors()
        assert len(server.requests) == len(cuts) + 1
    assert {result.outcome for result in broken} <= {
        Outcome.CONNECT,
        Outcome.STREAM_TRUNCATED,
        Outcome.INVALID_RESPONSE,
        Outcome.OK,
    }
    assert last.outcome is Outcome.OK, last.detail
    assert after - before <= 4, "one kept connection has two ends here"
