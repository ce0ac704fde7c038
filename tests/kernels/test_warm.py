"""Workers that are kept, and those that are not."""

import dataclasses

import pytest

from exporter.kernels.warm import MAX_AGE_S, MAX_RESIDENT_BYTES, WarmSessions
from tests.kernels.stage import ON_CPU, PLAIN

WARM = dataclasses.replace(PLAIN, warm=True)


async def test_a_warm_suite_keeps_its_worker_and_another_does_not(stage, only):
    only(WARM)
    runner = stage.runner("well")
    for _ in range(3):
        await runner.run(ON_CPU)
    assert len(stage.pids) == len(stage.alive) == 1
    only(PLAIN)
    await runner.run(ON_CPU)
    assert stage.alive == []
    await runner.aclose()


async def test_at_the_end_no_worker_is_left(stage, only):
    only(WARM)
    runner = stage.runner("well")
    await runner.run(ON_CPU)
    await runner.aclose()
    await runner.aclose()
    assert stage.alive == []


@pytest.mark.parametrize("character", ["crashing", "incorrect", "out of memory", "creative"])
async def test_after_anything_went_wrong_the_next_run_has_a_new_worker(stage, only, character):
    only(WARM)
    runner = stage.runner(character)
    await runner.run(ON_CPU)
    assert stage.alive == []
    before = len(stage.pids)
    await runner.run(ON_CPU)
    assert len(stage.pids) > before
    await runner.aclose()


async def test_a_disturbed_run_is_no_reason_for_a_new_worker(stage, only):
    only(WARM)
    runner = stage.runner("contended")
    for _ in range(2):
        await runner.run(ON_CPU)
    assert len(stage.pids) == 1
    await runner.aclose()


class Session:
    faults = 0

    def __init__(self):
        self.pid = 42
        self.closed = False

    async def close(self):
        self.closed = True


@pytest.mark.parametrize(
    ("age_s", "resident", "keep", "kept"),
    [
        pytest.param(60, 100 << 20, True, True, id="young and small"),
        pytest.param(60, None, True, True, id="size not known"),
        pytest.param(MAX_AGE_S + 1, 100 << 20, True, False, id="old"),
        pytest.param(60, MAX_RESIDENT_BYTES + 1, True, False, id="large"),
        pytest.param(60, 100 << 20, False, False, id="not wanted"),
    ],
)
async def test_which_worker_may_rest(monkeypatch, age_s, resident, keep, kept):
    from exporter.kernels import warm

    now = [0.0]
    monkeypatch.setattr(warm, "Session", lambda start: Session())
    sessions = WarmSessions(lambda: now[0], lambda pid: resident)
    session = sessions.take((("cpu",), 1), None)
    now[0] = age_s
    await sessions.give_back((("cpu",), 1), session, keep=keep)
    assert session.closed is not kept
    assert (sessions.take((("cpu",), 1), None) is session) is kept


async def test_age_counts_from_the_birth_not_from_the_last_rest(monkeypatch):
    from exporter.kernels import warm

    now = [0.0]
    monkeypatch.setattr(warm, "Session", lambda start: Session())
    sessions = WarmSessions(lambda: now[0], lambda pid: 0)
    key = ((), 1)
    session = sessions.take(key, None)
    for _ in range(4):
        await sessions.give_back(key, session, keep=True)
        now[0] += MAX_AGE_S / 3
        session = sessions.take(key, None)
    await sessions.give_back(key, session, keep=True)
    assert session.closed
