"""Runs that are left out."""

import dataclasses
from datetime import datetime

import pytest

from exporter.adapters import machine
from exporter.kernels import excuse
from exporter.model.contention import CpuAccount
from exporter.model.kernel_report import SkipReason
from exporter.model.quiet import QuietHours
from tests.kernels.stage import EVERYWHERE, ON_CPU, PLAIN

NOON = datetime(2026, 3, 1, 12, 0).astimezone()
QUIET = dataclasses.replace(ON_CPU, quiet=(QuietHours(8 * 60, 18 * 60),))


def busy(answer):
    async def ask():
        return answer

    return ask


async def test_in_quiet_hours_nothing_is_started(stage):
    report = await stage.report("well", QUIET, considerate=True, now=lambda: NOON, cpu_is_busy=busy(False))
    assert report.skipped is SkipReason.QUIET_HOURS
    assert report.results == ()
    assert stage.pids == []


async def test_while_others_use_the_processors_nothing_is_started(stage):
    report = await stage.report("well", considerate=True, cpu_is_busy=busy(True))
    assert report.skipped is SkipReason.CPU_BUSY
    assert stage.pids == []


async def test_a_gpu_that_others_use_is_left_alone_and_the_rest_is_measured(stage, only):
    only(PLAIN)
    report = await stage.report("shared", EVERYWHERE, considerate=True, cpu_is_busy=busy(False))
    assert report.skipped is None
    assert report.skipped_devices == ("cuda:0",)
    assert {r.run.device for r in report.results} == {"cpu"}


async def test_a_person_who_asks_gets_a_bench_at_any_hour(stage, only):
    only(PLAIN)
    report = await stage.report("shared", QUIET, now=lambda: NOON, cpu_is_busy=busy(True))
    assert report.skipped is None
    assert len(report.results) == 2


@pytest.mark.parametrize(
    ("used_s", "is_busy"),
    [
        pytest.param(0.05, False, id="a sixth of a core"),
        pytest.param(0.30, True, id="one of two cores"),
        pytest.param(None, False, id="nobody knows"),
    ],
)
async def test_how_busy_is_too_busy(monkeypatch, used_s, is_busy):
    accounts = iter(
        [CpuAccount(busy_s=10.0, cores=2), CpuAccount(busy_s=10.0 + used_s, cores=2)]
        if used_s
        else [None] * 2
    )
    monkeypatch.setattr(machine, "cpu_account", lambda: next(accounts))
    monkeypatch.setattr(machine, "own_cpu_s", lambda: 0.0)
    assert await excuse.cpu_is_busy() is is_busy
