"""The trigger, on clocks that are numbers."""

from datetime import UTC, datetime, timedelta

import pytest

from exporter.model.schedule import Grid
from exporter.scheduler.clock import Clock
from exporter.scheduler.entry import Entry
from exporter.scheduler.guard import Guard, Patience
from exporter.scheduler.locks import Locks
from exporter.scheduler.trigger import GridTrigger

BOOT = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("now_s", "next_s"),
    [
        pytest.param(50.0, 100, id="the first slot from before it"),
        pytest.param(100.0, 110, id="the next one from the moment of a slot"),
        pytest.param(109.0, 110, id="the next one however late the wake-up was"),
        pytest.param(135.0, 140, id="slots that were slept through are not caught up"),
        pytest.param(109.999, 120, id="a slot that the early wake-up is for is not woken for again"),
    ],
)
@pytest.mark.parametrize("previous", [None, BOOT, BOOT + timedelta(days=1000)])
async def test_the_next_wake_up_is_the_next_slot_whatever_the_wall_clock_showed_before(
    told, a_job, now_s, next_s, previous
) -> None:
    clock = Clock(
        monotonic_ns=lambda: int(now_s * SECOND), wall_ns=lambda: int((BOOT.timestamp() + now_s) * SECOND)
    )
    grid = Grid(100 * SECOND, 10 * SECOND)
    entry = Entry(
        a_job(every_s=10.0), grid, clock=clock, locks=Locks(), guard=Guard(Patience()), observer=told
    )
    woken = GridTrigger(entry, clock).get_next_fire_time(previous, previous or BOOT)
    assert abs(woken - (BOOT + timedelta(seconds=next_s))) < timedelta(milliseconds=1)
