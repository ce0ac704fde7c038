"""The real door, for tests over sockets."""

from collections.abc import AsyncIterator

import pytest

from tests.probes.sockets import KEY


@pytest.fixture
async def api() -> AsyncIterator[object]:
    from exporter.adapters.openai_api import OpenAiApi
    from exporter.adapters.wire.wire import Wire

    door = OpenAiApi(wire=Wire(environ={}), environ={"KEY": KEY})
    yield door
    await door.aclose()
