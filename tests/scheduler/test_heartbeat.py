"""Ticks of a loop that is blocked, driven by a loop whose clock is a number."""

import pytest

from exporter.scheduler.clock import Clock
from exporter.scheduler.heartbeat import Heartbeat


class FakeLoop:
    def __init__(self) -> None:
        self.now = 100.0
        self.calls = []

    def time(self) -> float:
        return self.now

    def call_at(self, when, callback, *args):
        self.calls.append((when, callback, args))

    def tick(self, late_s: float) -> None:
        when, callback, args = self.calls.pop()
        self.now = when + late_s
        callback(*args)


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> FakeLoop:
    loop = FakeLoop()
    monkeypatch.setattr("asyncio.get_running_loop", lambda: loop)
    return loop


@pytest.mark.parametrize(
    ("late_s", "expected", "next_due"),
    [
        pytest.param(0.0, [0.0], 100.2, id="a tick in time is one tick without lag"),
        pytest.param(0.05, [0.05], 100.2, id="a late tick leaves the grid where it was"),
        pytest.param(0.35, [0.35, 0.25, 0.15, 0.05], 100.5, id="every tick that a block delayed is reported"),
    ],
)
def test_ticks(loop, late_s, expected, next_due) -> None:
    lags = []
    heartbeat = Heartbeat(Clock(monotonic_ns=lambda: 0, wall_ns=lambda: 0), lags.append, lambda step: None)
    heartbeat.start()
    loop.tick(late_s)
    assert lags == pytest.approx(expected)
    assert loop.calls[0][0] == pytest.approx(next_due)


def test_small_changes_never_add_up_to_a_step(loop) -> None:
    wall_ns = 0
    steps = []
    heartbeat = Heartbeat(
        Clock(monotonic_ns=lambda: 0, wall_ns=lambda: wall_ns), lambda lag: None, steps.append
    )
    heartbeat.start()
    for _ in range(50):
        wall_ns += 20_000_000
        loop.tick(0.0)
    assert steps == []
    wall_ns -= 500_000_000
    loop.tick(0.0)
    assert steps == [-0.5]


def test_an_interruption_between_the_two_readings_is_no_step(loop) -> None:
    late = 900_000_000
    monotonic, wall = iter([0, 0, 0, late, late, late]), iter([0, late, late])
    steps = []
    clock = Clock(monotonic_ns=lambda: next(monotonic), wall_ns=lambda: next(wall))
    heartbeat = Heartbeat(clock, lambda lag: None, steps.append)
    heartbeat.start()
    loop.tick(0.0)
    loop.tick(0.0)
    assert steps == []
