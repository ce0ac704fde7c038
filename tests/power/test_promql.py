"""Watts of a remote server from Prometheus."""

import asyncio
import shutil
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from exporter.adapters.promql import NoAnswer, Prometheus
from exporter.power import remote as remote_module
from exporter.power.remote import Remote
from tests.power.station import becomes


def vector(*values: str) -> dict[str, object]:
    series = [{"metric": {}, "value": [1.0, value]} for value in values]
    return {"status": "success", "data": {"resultType": "vector", "result": series}}


class Answerer:
    """An HTTP server that answers every query with what it is told to."""

    def __init__(self) -> None:
        self.answer: object = vector("412.5")
        self.queries: list[str] = []
        self.url = ""

    async def query(self, request: web.Request) -> web.Response:
        self.queries.append(str((await request.post())["query"]))
        if isinstance(self.answer, web.Response):
            return self.answer
        return web.json_response(self.answer)


@pytest.fixture
async def answerer() -> AsyncIterator[Answerer]:
    it = Answerer()
    app = web.Application()
    app.router.add_post("/prom/api/v1/query", it.query)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    it.url = f"http://127.0.0.1:{runner.addresses[0][1]}/prom"
    yield it
    await runner.cleanup()


@pytest.fixture
async def prometheus() -> AsyncIterator[Prometheus]:
    it = Prometheus()
    yield it
    await it.aclose()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(vector("412.5"), 412.5, id="one series"),
        pytest.param(
            {"status": "success", "data": {"resultType": "scalar", "result": [1.0, "7"]}}, 7.0, id="a scalar"
        ),
        pytest.param(vector(), "gives 0 series", id="no series"),
        pytest.param(vector("1", "2"), "gives 2 series", id="several series are not added up"),
        pytest.param(vector("NaN"), "no number of watts", id="not a number"),
        pytest.param(vector("-5"), "no number of watts", id="negative watts"),
        pytest.param({"status": "error", "error": "parse error: x"}, "parse error", id="a bad query"),
        pytest.param({"status": "success", "data": []}, "no number", id="another shape"),
        pytest.param(web.Response(text="<html>"), "not an answer of Prometheus", id="no JSON"),
        pytest.param(web.Response(text="[" * 100_000), "not an answer", id="nested without end"),
    ],
)
async def test_an_answer_is_a_number_or_a_reason(
    answerer: Answerer, prometheus: Prometheus, answer: object, expected: float | str
) -> None:
    answerer.answer = answer
    found = await prometheus.number(answerer.url, "sum(node_power)")
    assert answerer.queries == ["sum(node_power)"]
    if isinstance(expected, str):
        assert isinstance(found, NoAnswer)
        assert expected in found.detail
    else:
        assert found == expected


async def test_nobody_there_is_a_reason(prometheus: Prometheus) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = await prometheus.number(url, "up")
    assert isinstance(found, NoAnswer)
    assert "power.prometheus" in found.detail


async def test_a_value_is_kept_while_it_is_fresh_and_not_longer(
    answerer: Answerer, prometheus: Prometheus, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    remote = Remote(prometheus, poll_s=0.01, monotonic_s=lambda: now[0])
    task = asyncio.create_task(remote.run(answerer.url, ["a", "a", "b"]))
    await becomes(lambda: remote.watts("b") is not None)
    assert remote.watts("a") == 412.5
    assert remote.watts("never asked") is None
    answerer.answer = vector()
    seen = len(answerer.queries)
    await becomes(lambda: len(answerer.queries) >= seen + 4)
    assert remote.watts("a") == 412.5
    now[0] = remote_module.FRESH_S + 1
    assert remote.watts("a") is None
    task.cancel()
    await asyncio.wait({task})


@pytest.mark.stack
async def test_a_real_prometheus_is_understood(tmp_path: Path, prometheus: Prometheus) -> None:
    program = shutil.which("prometheus")
    assert program is not None
    (tmp_path / "p.yml").write_text("global: {scrape_interval: 1h}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        program,
        f"--config.file={tmp_path / 'p.yml'}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        end_s = time.monotonic() + 60
        while isinstance(await prometheus.number(url, "vector(700)"), NoAnswer):
            assert time.monotonic() < end_s
        assert await prometheus.number(url, "vector(700)") == 700.0
        assert await prometheus.number(f"{url}/", "scalar(vector(5))") == 5.0
        wrong = await prometheus.number(url, "sum(")
        assert isinstance(wrong, NoAnswer)
        assert "parse error" in wrong.detail
    finally:
        process.terminate()
        await process.wait()
