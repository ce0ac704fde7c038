"""The energy meter without the service: for a command that measures once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from exporter.adapters.child import Child, ChildEnd
from exporter.model.metering import Metering
from exporter.model.power import Snapshot
from exporter.model.power_protocol import Pace
from exporter.model.power_view import Restart
from exporter.power.board import Board
from exporter.power.link import START_S, Link, start_worker
from exporter.power.meter import POLL_S, EnergyMeter


@asynccontextmanager
async def local_meter(
    start: Callable[[], Awaitable[Child | ChildEnd]] = start_worker,
) -> AsyncIterator[Metering]:
    """Sample this host's devices for the length of the block; begin when they were first read.

    Where they cannot be read within ``START_S``, windows say so.
    """
    board = Board()
    is_read = asyncio.Event()

    def take(snapshot: Snapshot) -> None:
        board.take(snapshot)
        meter.note(snapshot)
        is_read.set()

    def ended(_: Restart) -> None:
        board.silence()
        meter.broken()

    def hurry(wanted: bool) -> None:
        link.pace(Pace(every_s=POLL_S if wanted else 1.0))

    link = Link(on_snapshot=take, on_end=ended, start=start)
    meter = EnergyMeter(link, board, hurry=hurry)
    running = asyncio.create_task(link.run(), name="power link")
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                await is_read.wait()
        yield meter
    finally:
        running.cancel()
        await asyncio.wait({running})
