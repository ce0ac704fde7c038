"""The line to the worker: whatever comes over it, and when it is given up."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from exporter.adapters.child import ChildEnd, ChildFault
from exporter.model.power import Fault, Snapshot, Source, SourceState
from exporter.model.power_protocol import Edge, Pace, order_from_json, to_json
from exporter.model.power_view import Restart
from exporter.power.link import HUNG_S, MAX_BACKOFF_S, Link
from tests.power.station import becomes


class ScriptedChild:
    """A worker that says what it is told to, and then nothing any more."""

    pid = 4242

    def __init__(self, *words: dict[str, Any] | ChildEnd, stuck: int = 0) -> None:
        self._words: Iterator[dict[str, Any] | ChildEnd] = iter(words)
        self._stuck = stuck
        self.sent: list[object] = []
        self.dismissed = 0

    @property
    def is_gone(self) -> bool:
        self._stuck -= 1
        return self._stuck < 0

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(order_from_json(message))

    async def receive(self, timeout_s: float) -> dict[str, Any] | ChildEnd:
        word = next(self._words, None)
        if word is None:
            await asyncio.sleep(3600)
            raise AssertionError
        return word

    async def dismiss(self, grace_s: float) -> None:
        self.dismissed += 1


class Rig:
    """A link to one child after another, with sleeps that are noted and not slept."""

    def __init__(self, *starts: ScriptedChild | ChildEnd) -> None:
        self._starts = iter(starts)
        self.idle = asyncio.Event()
        self.ends: list[Restart] = []
        self.snapshots: list[Snapshot] = []
        self.slept: list[float] = []
        self.link = Link(
            on_snapshot=self.snapshots.append,
            on_end=self.ends.append,
            start=self._start,  # type: ignore[arg-type]
            monotonic_s=lambda: 0.0,
            sleep=self._sleep,
        )

    async def _start(self) -> ScriptedChild | ChildEnd:
        start = next(self._starts, None)
        if start is None:
            self.idle.set()
            await asyncio.sleep(3600)
            raise AssertionError
        return start

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def play(self) -> None:
        task = asyncio.create_task(self.link.run())
        await self.idle.wait()
        task.cancel()
        await asyncio.wait({task})


def snapshot(at_s: float, fault: Fault | None = None) -> dict[str, Any]:
    state = SourceState(source=Source.NVML, fault=fault)
    return to_json(Snapshot(at_s=at_s, sources=(state,)))


CRASH = ChildEnd(ChildFault.CRASHED, "died of SIGSEGV")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        pytest.param(ScriptedChild(CRASH), Restart.CRASHED, id="it crashes"),
        pytest.param(ScriptedChild(snapshot(1), CRASH), Restart.CRASHED, id="it crashes later"),
        pytest.param(ScriptedChild(ChildEnd(ChildFault.TIMEOUT, "")), Restart.TIMEOUT, id="it is silent"),
        pytest.param(ScriptedChild({"power": 1, "kind": "song"}), Restart.BAD_OUTPUT, id="it says nonsense"),
        pytest.param(ScriptedChild({"power": 2}), Restart.BAD_OUTPUT, id="it is of another version"),
        pytest.param(
            ScriptedChild({"power": 1, "kind": "snapshot", "body": {}}),
            Restart.BAD_OUTPUT,
            id="it leaves something out",
        ),
        pytest.param(
            ScriptedChild(snapshot(1, Fault.VERSION_MISMATCH)),
            Restart.VERSION_MISMATCH,
            id="its library is of another driver",
        ),
        pytest.param(
            ScriptedChild(*(snapshot(float(at_s), Fault.HUNG) for at_s in range(int(HUNG_S) + 1))),
            Restart.HUNG,
            id="its library has hung for a minute",
        ),
        pytest.param(
            ChildEnd(ChildFault.NOT_STARTED, "no such file"), Restart.NOT_STARTED, id="it does not start"
        ),
    ],
)
async def test_every_end_is_counted_and_followed_by_a_new_start(
    start: ScriptedChild | ChildEnd, end: Restart
) -> None:
    rig = Rig(start, ScriptedChild(CRASH))
    await rig.play()
    assert rig.ends == [end, Restart.CRASHED]
    if isinstance(start, ScriptedChild):
        assert start.dismissed == 1


async def test_a_hang_that_ends_in_time_is_forgiven() -> None:
    hangs = [snapshot(float(at_s), None if at_s == 50 else Fault.HUNG) for at_s in range(100)]
    rig = Rig(ScriptedChild(*hangs, CRASH))
    await rig.play()
    assert rig.ends == [Restart.CRASHED]
    assert len(rig.snapshots) == 100


async def test_starts_come_further_and_further_apart() -> None:
    rig = Rig(*(ScriptedChild(CRASH) for _ in range(9)))
    await rig.play()
    assert rig.slept == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, MAX_BACKOFF_S, MAX_BACKOFF_S]


async def test_no_second_process_while_the_first_is_stuck_in_the_driver() -> None:
    rig = Rig(ScriptedChild(CRASH, stuck=3), ScriptedChild(CRASH))
    await rig.play()
    assert rig.slept == [1.0, 1.0, 1.0, 0.0, 1.0]


async def test_a_new_worker_gets_the_pace_that_the_old_one_had() -> None:
    first, second = ScriptedChild(CRASH), ScriptedChild(CRASH)
    rig = Rig(first, second)
    rig.link.pace(Pace(every_s=0.1, processes=True))
    await rig.play()
    assert first.sent == second.sent == [Pace(every_s=0.1, processes=True)]


async def test_a_question_to_a_worker_that_dies_is_answered_with_nothing() -> None:
    class Dying(ScriptedChild):
        async def receive(self, timeout_s: float) -> dict[str, Any] | ChildEnd:
            await becomes(lambda: any(isinstance(each, Edge) for each in self.sent))
            return CRASH

    rig = Rig(Dying())
    task = asyncio.create_task(rig.link.run())
    await becomes(lambda: rig.link.pid is not None)
    assert await rig.link.edges(("GPU-1",)) == ()
    await rig.idle.wait()
    assert await rig.link.edges(("GPU-1",)) == ()
    task.cancel()
    await asyncio.wait({task})
