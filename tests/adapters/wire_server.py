"""A raw TCP server that answers each request with what a test scripts."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import trustme

from exporter.adapters.wire.request import WireRequest, split_url


@dataclass
class Request:
    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Peer:
    """One connection of a client, as the server sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def cut(self) -> None:
        """Reset the connection."""
        linger = b"\x01\0\0\0\0\0\0\0"
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


Answer = Callable[[Peer, Request], Awaitable[bool | None]]
"""Answers one request; False closes the connection."""


@dataclass
class Server:
    answer: Answer
    reads_body: bool = True
    port: int = 0
    connections: int = 0
    requests: list[Request] = field(default_factory=list)
    peers: list[Peer] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set anew each time a client has gone."""
    _alone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        peer = Peer(reader, writer)
        self.peers.append(peer)
        self._alone.clear()
        try:
            while (request := await read_request(reader, body=self.reads_body)) is not None:
                self.requests.append(request)
                self.asked.set()
                if await self.answer(peer, request) is False:
                    break
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError, TimeoutError):
                await writer.wait_closed()
            self.peers.remove(peer)
            self.left.set()
            self.left.clear()
            if not self.peers:
                self._alone.set()

    async def alone(self) -> None:
        """Wait until every client has gone."""
        await self._alone.wait()


async def read_request(reader: asyncio.StreamReader, *, body: bool = True) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        return None
    line, *rest = head[:-4].split("\r\n")
    headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in rest)}
    length = int(headers.get("content-length", 0)) if body else 0
    return Request(line, headers, await reader.readexactly(length))


@contextlib.asynccontextmanager
async def serving(
    answer: Answer,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
    *,
    reads_body: bool = True,
) -> AsyncIterator[Server]:
    server = Server(answer, reads_body)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(accept, host, 0, ssl=tls, backlog=512)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listener.wait_closed()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"
END = b"0\r\n\r\n"


def event(text: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode()


def whole(body: bytes, status: str = "200 OK", extra: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    )
    return head.encode() + body


def always(response: bytes, *, keep: bool = True) -> Answer:
    async def answer(peer: Peer, request: Request) -> bool:
        await peer.send(response)
        return keep

    return answer


def server_context(authority: trustme.CA, *names: str, **issue: object) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names, **issue).configure_cert(context)  # type: ignore[arg-type]
    return context


def request_to(url: str, **options: object) -> WireRequest:
    """A POST with a small body and five seconds of patience, unless said otherwise."""
    origin, path = split_url(url)
    fields: dict[str, object] = {"method": "POST", "body": b"{}", "timeout_s": 5.0, **options}
    return WireRequest(origin=origin, path=path, **fields)  # type: ignore[arg-type]
