"""A defect of our own in the power part: told, and begun again."""

import asyncio

import pytest

from exporter.model.power_plan import Watts
from exporter.model.power_view import PowerView
from exporter.power import service
from exporter.power.service import Power
from tests.metrics.builders import plan
from tests.power.station import becomes, configuration


async def test_a_crash_is_logged_without_its_message_and_the_work_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(service, "AGAIN_S", 0.01)
    views: list[PowerView] = []

    def publish(view: PowerView) -> None:
        views.append(view)
        if len(views) == 1:
            raise ValueError("CONFIDENTIAL")

    power = Power(publish)
    power.start(configuration(enabled=False))
    try:
        await becomes(lambda: len(views) >= 4)
    finally:
        await power.stop()
    assert "power watch crashed and is begun again: ValueError" in caplog.text
    assert "CONFIDENTIAL" not in caplog.text


async def test_joules_go_on_where_only_a_label_of_the_target_changes() -> None:
    views: list[PowerView] = []
    power = Power(views.append)
    power.start(configuration(plan(power=Watts(watts=1e6)), enabled=False))
    try:
        await becomes(lambda: views and views[-1].targets[0].energy_j > 0)
        await power.reconfigure(
            configuration(plan(power=Watts(watts=1e6), labels={"site": "fra1"}), enabled=False)
        )
        assert views[-1].targets[0].energy_j >= views[-2].targets[0].energy_j > 0
        await power.reconfigure(configuration(plan(power=Watts(watts=5.0)), enabled=False))
        assert views[-1].targets[0].energy_j == 0
    finally:
        await power.stop()


async def test_stopping_ends_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    power = Power(lambda view: None)
    before = asyncio.all_tasks()
    power.start(configuration(enabled=False))
    await asyncio.sleep(0)
    assert asyncio.all_tasks() > before
    await power.stop()
    assert asyncio.all_tasks() == before
    await power.reconfigure(configuration(enabled=True))
    afterwards = asyncio.all_tasks()
    await power.stop()
    assert afterwards == before
