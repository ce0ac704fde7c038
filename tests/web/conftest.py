import dataclasses
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from exporter.web.limits import Limits
from exporter.web.server import WebServer
from tests.web.web_site import ANSWERS, Site


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., object]]:
    servers: list[WebServer] = []
    async with aiohttp.ClientSession(auto_decompress=False) as client:

        async def start(limits: Limits | None = None, **changes: object) -> Site:
            server = WebServer(dataclasses.replace(ANSWERS, **changes), limits=limits)
            servers.append(server)
            return Site(await server.start("127.0.0.1", 0), client)

        yield start
    for server in servers:
        await server.stop(1)
