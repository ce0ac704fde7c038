"""Nothing leaks, however exchanges end."""

import asyncio
import gc
import itertools
import os

import pytest

from exporter.adapters.wire.wire import Wire
from tests.adapters.wire_server import (
    DONE,
    END,
    STREAM_HEAD,
    Peer,
    Request,
    chunk,
    event,
    request_to,
    serving,
    whole,
)

EXCHANGES = 2000
AT_ONCE = 20
GARBAGE = b"garbage\r\n"
CUT = STREAM_HEAD + chunk(event("cut"))
ENDS_EARLY = STREAM_HEAD + chunk(event("early"))
NO_END = STREAM_HEAD + chunk(event("no end"))
WAYS = (whole(b"{}"), STREAM_HEAD + chunk(event("a")) + chunk(DONE) + END, CUT, ENDS_EARLY, GARBAGE, NO_END)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a listing, not a path


@pytest.mark.slow
async def test_descriptors_and_tasks_stay_flat_over_many_exchanges_of_every_kind(wire: Wire) -> None:
    kinds = itertools.cycle(WAYS)

    async def any_way(peer: Peer, request: Request) -> bool:
        way = next(kinds)
        await peer.send(way)
        if way is GARBAGE or way is ENDS_EARLY:
            return False
        if way is CUT:
            peer.cut()
            return False
        if way is NO_END:
            await peer.reader.read()  # until the client gives up
        return True

    async with serving(any_way) as server:
        url = f"http://127.0.0.1:{server.port}/"

        async def one(number: int) -> None:
            exchange = wire.exchange(request_to(url, timeout_s=0.03, fresh=number % 3 == 0))
            if number % 7:
                await exchange
                return
            task = asyncio.create_task(exchange)
            await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        async def batch(first: int) -> None:
            await asyncio.gather(*(one(first + number) for number in range(AT_ONCE)))

        await batch(0)
        await asyncio.sleep(0.05)
        before = descriptors()
        for first in range(AT_ONCE, EXCHANGES, AT_ONCE):
            await batch(first)
        await wire.aclose()
        await server.alone()
        gc.collect()
        assert descriptors() <= before
        assert len(server.requests) > EXCHANGES // 2
    assert asyncio.all_tasks() == {asyncio.current_task()}
