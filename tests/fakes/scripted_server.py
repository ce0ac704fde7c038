"""A server that plays a script for whatever it is asked, byte for byte and pause for pause."""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

END = b"0\r\n\r\n"
"""The terminating chunk of a chunked body."""


@dataclass(frozen=True, slots=True)
class Send:
    """Write these bytes after a pause."""

    data: bytes
    after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Stall:
    """Say nothing more until the client goes away."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection in order (FIN)."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Break the connection (RST)."""


Step = Send | Stall | Close | Reset


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came: which connection it used, counted from 1, and what it said."""

    connection: int
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)


def head(status: str = "200 OK", content_type: str = "text/event-stream", *more: str) -> bytes:
    """Response headers of a chunked body."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", "Transfer-Encoding: chunked", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def chunk(data: str | bytes) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return b"%x\r\n%s\r\n" % (len(raw), raw)


def streaming(*events: tuple[float, str], end: Sequence[Step] = (Send(END),)) -> list[Step]:
    """A chunked event stream: headers at once, then each (pause in s, text), then the end."""
    return [Send(head()), *(Send(chunk(text), after_s) for after_s, text in events), *end]


def plain(
    body: str, status: str = "200 OK", content_type: str = "application/json", *more: str
) -> list[Step]:
    """A response of known length in one piece."""
    raw = body.encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(raw)}"]
    return [Send("\r\n".join([*lines, "", ""]).encode() + raw)]


class ScriptedServer:
    """Plays one script a request, in order, the last one again and again."""

    def __init__(self, *scripts: Sequence[Step], tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self._scripts = scripts
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = port
        self.connections = 0
        self.requests: list[Request] = []
        self.asked = asyncio.Event()
        """Set once the first request has come whole."""

    @property
    def url(self) -> str:
        scheme = "http" if self._tls is None else "https"
        return f"{scheme}://127.0.0.1:{self._port}/v1"

    async def alone(self) -> None:
        """Wait until every client has gone."""
        await asyncio.gather(*self._tasks)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, ssl=self._tls)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            while (request := await _read(reader, number)) is not None:
                script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
                self.requests.append(request)
                self.asked.set()
                if not await _play(script, reader, writer):
                    break
        except (OSError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()


async def _read(reader: asyncio.StreamReader, connection: int) -> Request | None:
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = raw.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(connection, method, path, headers, body)


async def _play(script: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Play to the end; tell whether the connection lives on."""
    for step in script:
        match step:
            case Send(data, after_s):
                if after_s:
                    await asyncio.sleep(after_s)
                writer.write(data)
                await writer.drain()
            case Stall():
                await reader.read()
                return False
            case Close():
                return False
            case Reset():
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
    return True
