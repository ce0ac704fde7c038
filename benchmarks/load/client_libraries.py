"""The same closed loop over raw sockets, aiohttp and the openai SDK, stamped as their users stamp.

python -m benchmarks.load.client_libraries MODE BASE_URL STREAMS SECONDS OUT.json

MODE is one of
raw      an asyncio.Protocol, time taken in data_received, events found by searching bytes
aiohttp  content.iter_any(), time taken as the bytes come up, events found by searching bytes
openai   AsyncOpenAI(stream=True), time taken after its own parse
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from benchmarks.load.kept import TOKENS, Kept, write

BODY = {
    "model": "mock",
    "messages": [{"role": "user", "content": "w1 " * 64}],
    "max_tokens": TOKENS,
    "stream": True,
    "stream_options": {"include_usage": True},
}
DATA = json.dumps(BODY).encode()
_TEXT = b'"content":"'


class Stream:
    """One answer: where its tokens are, by a search for the key and a character that is no quote."""

    def __init__(self) -> None:
        self.at: list[int] = []
        self._rest = b""

    def feed(self, data: bytes, now_ns: int) -> None:
        self._rest += data
        *events, self._rest = self._rest.split(b"\n\n")
        for event in events:
            where = event.find(_TEXT)
            if where >= 0 and event[where + len(_TEXT) :][:1] != b'"':
                self.at.append(now_ns)


class RawProtocol(asyncio.Protocol):
    def __init__(self) -> None:
        self.stream = Stream()
        self.over: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        now_ns = time.monotonic_ns()
        self.stream.feed(data, now_ns)
        if data.endswith(b"0\r\n\r\n") and self.over and not self.over.done():
            self.over.set_result(now_ns)


async def raw(base_url: str, kept: Kept, end_ns: int) -> None:
    url = urlsplit(base_url)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_connection(RawProtocol, url.hostname, url.port)
    while time.monotonic_ns() < end_ns:
        name = kept.next_name()
        protocol.stream, protocol.over = Stream(), loop.create_future()
        head = (
            f"POST {url.path}/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"X-Request-ID: {name}\r\nContent-Length: {len(DATA)}\r\n\r\n"
        )
        sent_ns = time.monotonic_ns()
        transport.write(head.encode() + DATA)
        over_ns = await protocol.over
        kept.add(name, sent_ns, protocol.stream.at, over_ns)
    transport.close()


async def over_aiohttp(session: object, base_url: str, kept: Kept, end_ns: int) -> None:
    while time.monotonic_ns() < end_ns:
        name, stream = kept.next_name(), Stream()
        headers = {"Content-Type": "application/json", "X-Request-ID": name}
        sent_ns = time.monotonic_ns()
        async with session.post(f"{base_url}/chat/completions", data=DATA, headers=headers) as answer:
            async for data in answer.content.iter_any():
                stream.feed(data, time.monotonic_ns())
        kept.add(name, sent_ns, stream.at, time.monotonic_ns())


async def over_sdk(client: object, kept: Kept, end_ns: int) -> None:
    while time.monotonic_ns() < end_ns:
        name, at = kept.next_name(), []
        sent_ns = time.monotonic_ns()
        chunks = await client.chat.completions.create(**BODY, extra_headers={"X-Request-ID": name})
        async for chunk in chunks:
            if chunk.choices and chunk.choices[0].delta.content:
                at.append(time.monotonic_ns())  # noqa: PERF401 - as users write it
        kept.add(name, sent_ns, at, time.monotonic_ns())


async def streams(run: Callable[[], Awaitable[None]], count: int, seconds: float) -> None:
    tasks = [asyncio.ensure_future(run()) for _ in range(count)]
    await asyncio.wait(tasks, timeout=seconds + 15)


async def main(mode: str, base_url: str, count: int, seconds: float, kept: Kept) -> None:
    end_ns = time.monotonic_ns() + round(seconds * 1e9)
    if mode == "raw":
        await streams(lambda: raw(base_url, kept, end_ns), count, seconds)
    elif mode == "aiohttp":
        import aiohttp  # noqa: PLC0415 - each mode pays for its own imports

        connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(60)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            kept.begin()
            await streams(lambda: over_aiohttp(session, base_url, kept, end_ns), count, seconds)
    else:
        import openai  # noqa: PLC0415

        async with openai.AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0, timeout=60) as client:
            kept.begin()
            await streams(lambda: over_sdk(client, kept, end_ns), count, seconds)


if __name__ == "__main__":
    found = Kept()
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), found))
    write(found, sys.argv[5])
