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
