"""Reasons not to bench now: it would disturb others, or they would disturb it."""

import asyncio
import time
from datetime import datetime

from exporter.adapters import machine
from exporter.model.configuration import BenchPlan
from exporter.model.contention import BUSY_SHARE, foreign_cpu_s, is_over

WATCHED_S = 0.3


def is_quiet(plan: BenchPlan, now: datetime) -> bool:
    """Tell whether the plan asks for quiet at this local time."""
    return any(hours.covers(now.hour * 60 + now.minute) for hours in plan.quiet)


async def cpu_is_busy() -> bool:
    """Watch for a moment whether others use more of the processors than a bench should compete with."""
    before, begin_s, own_s = machine.cpu_account(), time.monotonic(), machine.own_cpu_s()
    await asyncio.sleep(WATCHED_S)
    after, window_s = machine.cpu_account(), time.monotonic() - begin_s
    foreign = foreign_cpu_s(before, after, machine.own_cpu_s() - own_s)
    return is_over(foreign, window_s, after.cores if after else 1, BUSY_SHARE)
