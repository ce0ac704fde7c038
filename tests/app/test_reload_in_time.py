"""Reloads that come at the worst moment: while the service starts, and while it stops."""

import asyncio
import threading
from pathlib import Path

import pytest

from exporter.app.service import Service
from exporter.config.load import load
from exporter.model.configuration import Configuration, WebOptions
from exporter.probes import KINDS

LISTEN = WebOptions(host="127.0.0.1", port=0)


def configured(tmp_path: Path, name: str) -> Configuration:
    path = tmp_path / f"{name}.yml"
    path.write_text(
        f"targets: [{{name: {name}, base_url: 'http://127.0.0.1:1/v1', model: m, "
        "probes: [{name: p, kind: chat, every: 1d}]}]"
    )
    return load(path, KINDS)


async def test_a_reload_during_the_start_waits_for_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = configured(tmp_path, "old"), configured(tmp_path, "new")
    service = Service(lambda: new, old, listen=LISTEN)
    preparing, go_on = asyncio.Event(), asyncio.Event()

    async def prepare() -> None:
        preparing.set()
        await go_on.wait()

    monkeypatch.setattr(service._api, "prepare", prepare)
    running = asyncio.create_task(service.run())
    await preparing.wait()
    reloading = asyncio.create_task(service.reload())
    await asyncio.sleep(0.05)
    assert not reloading.done()
    go_on.set()
    reloaded = await reloading
    assert reloaded.is_accepted
    assert reloaded.text == "probes added: 1, probes removed: 1, targets departed: 1"
    service.stop()
    assert await running == 0


async def test_a_reload_that_the_stop_overtakes_changes_nothing(tmp_path: Path) -> None:
    old, new = configured(tmp_path, "old"), configured(tmp_path, "new")
    loading, go_on = threading.Event(), threading.Event()

    def slow_load() -> Configuration:
        loading.set()
        go_on.wait(20)
        return new

    service = Service(slow_load, old, listen=LISTEN)
    running = asyncio.create_task(service.run())
    reloading = asyncio.create_task(service.reload())
    await asyncio.to_thread(loading.wait, 20)
    service.stop()
    assert await running == 0
    go_on.set()
    reloaded = await reloading
    assert not reloaded.is_accepted
    assert "the service is stopping" in reloaded.text


async def test_a_defect_of_discovery_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("exporter.app.service.DISCOVER_EVERY_S", 0.01)
    looks = []
    found = asyncio.Event()
    loop = asyncio.get_running_loop()

    def discover() -> Configuration | None:
        looks.append(1)
        if len(looks) == 1:
            raise RuntimeError("a bug")
        loop.call_soon_threadsafe(found.set)
        return None

    old = configured(tmp_path, "old")
    service = Service(lambda: old, old, discover=discover, listen=LISTEN)
    running = asyncio.create_task(service.run())
    async with asyncio.timeout(30):
        await found.wait()
    service.stop()
    assert await running == 0
    assert "looking for target files crashed and begins again: RuntimeError" in caplog.text
    assert "a bug" not in caplog.text
