"""The chat kind through the real door over real sockets: how a request ends."""

import pytest

from exporter.model.outcome import Outcome
from exporter.probes.base import Api
from tests.fakes.scripted_server import (
    Close,
    Reset,
    ScriptedServer,
    Send,
    Step,
    plain,
    streaming,
)
from tests.probes.ends import ENDS
from tests.probes.sockets import GOOD, KEY, TOKENS, probe, probe_script


@pytest.mark.parametrize(("_", "script", "more", "outcome"), ENDS, ids=[row[0] for row in ENDS])
async def test_how_it_ends(api: Api, _: str, script: list[Step], more: dict, outcome: Outcome) -> None:
    result = await probe_script(api, script, **more)
    assert result.outcome is outcome, result.detail
    assert (result.detail == "") is (outcome is Outcome.OK)
    assert KEY not in repr(result)
    if outcome is Outcome.OK:
        assert result.timing.e2e is not None


FIRST_FAILURES = [
    ("500", plain("oops", "500 Internal Server Error", "text/plain"), Outcome.HTTP_5XX),
    (
        "503 with Retry-After",
        [Send(b"HTTP/1.1 503 S\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")],
        Outcome.HTTP_5XX,
    ),
    ("429", plain("slow down", "429 Too Many Requests", "text/plain"), Outcome.RATE_LIMITED),
    ("408", plain("late", "408 Request Timeout", "text/plain"), Outcome.HTTP_4XX),
    ("409", plain("busy", "409 Conflict", "text/plain"), Outcome.HTTP_4XX),
    ("closed", [Close()], Outcome.CONNECT),
    ("reset", [Reset()], Outcome.CONNECT),
    ("cut", streaming(*TOKENS, end=(Close(),)), Outcome.STREAM_TRUNCATED),
]


@pytest.mark.parametrize(("_", "first", "outcome"), FIRST_FAILURES, ids=[row[0] for row in FIRST_FAILURES])
async def test_a_failure_is_reported_and_never_retried(
    api: Api, _: str, first: list[Step], outcome: Outcome
) -> None:
    async with ScriptedServer(first, GOOD) as server:
        failed = await probe(api, server.url)
        assert len(server.requests) == 1
        worked = await probe(api, server.url)
        assert len(server.requests) == 2
    assert failed.outcome is outcome, failed.detail
    assert worked.outcome is Outcome.OK, worked.detail
