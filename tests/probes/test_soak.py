"""Two thousand probes of every kind, most of them broken off somewhere: nothing piles up."""

import gc
import socket
from pathlib import Path

import pytest

from exporter.probes import KINDS
from exporter.probes.base import Api
from tests.fakes.scripted_server import ScriptedServer
from tests.probes.goods import good
from tests.probes.sockets import SOON
from tests.probes.test_every_kind_through_every_fault import CASES, probe

QUICK = [(kind, script) for kind, _, script, more, _ in CASES if more is not SOON]
GROUND = [(kind, good(kind)) for kind in KINDS]
PROBES = 2000
PAGE_KB = 4


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def resident_kb() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_KB


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_descriptors_and_memory_stay_flat(api: Api) -> None:
    cases = GROUND + QUICK

    # One port for all rounds: what is kept for a base URL is kept once.
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def one_round() -> int:
        async with ScriptedServer(*(script for _, script in cases), port=port) as server:
            for kind, _ in cases:
                await probe(api, kind, server.url)
            assert len(server.requests) == len(cases)
        return len(cases)

    done = 0
    while done < PROBES // 2:
        done += await one_round()
    before = descriptors(), resident_kb()
    while done < PROBES:
        done += await one_round()
    after = descriptors(), resident_kb()
    assert after[0] <= before[0] + 2
    assert after[1] - before[1] < 4096, "1,000 more probes must not cost 4 MB"
