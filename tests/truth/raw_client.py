"""A client that sees the very bytes."""

import json
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from benchmarks.truth import TruthServer


@dataclass(frozen=True)
class Reply:
    """One response: the bytes after the head, chunked coding removed, and how it ended."""

    head: str
    body: bytes
    reads: tuple[tuple[int, int], ...]
    """(when, how many bytes of the response there were by then)"""
    ended: str
    """complete, closed (FIN before the end), reset, or open (nothing more came)."""

    @property
    def status(self) -> int:
        return int(self.head.split()[1])

    @property
    def events(self) -> list[str]:
        return [block for block in self.body.decode().replace("\r\n", "\n").split("\n\n") if block]


class Client:
    """One connection; ``ask`` sends a request and reads its response."""

    def __init__(self, server: TruthServer, ca_file: str | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        if ca_file:
            context = ssl.create_default_context(cafile=ca_file)
            self._socket = context.wrap_socket(self._socket, server_hostname="127.0.0.1")
        self._left = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def ask(self, url: str, body: dict[str, object], *, headers: str = "", patience: float = 10) -> Reply:
        self.send(request(url, body, headers))
        return self.read(patience)

    def read(self, patience: float = 10) -> Reply:
        self._socket.settimeout(patience)
        raw, reads = self._left, []
        ended = "complete"
        while not (parsed := _parse(raw)):
            try:
                data = self._socket.recv(1 << 20)
            except ConnectionResetError:
                ended = "reset"
            except TimeoutError:
                ended = "open"
            else:
                raw += data
                reads.append((time.monotonic_ns(), len(raw)))
                ended = "complete" if data else "closed"
            if ended != "complete":
                head, _, rest = raw.partition(b"\r\n\r\n")
                body = _dechunk(rest)[0] if _is_chunked(head) else rest
                return Reply(head.decode(), body, tuple(reads), ended)
        head_text, body, self._left = parsed
        return Reply(head_text, body, tuple(reads), ended)


def request(url: str, body: dict[str, object], headers: str = "") -> bytes:
    content = json.dumps(body).encode()
    lines = (
        f"POST {urlsplit(url).path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n{headers}\r\n"
    )
    return lines.encode() + content


def _is_chunked(head: bytes) -> bool:
    return b"transfer-encoding: chunked" in head.lower()


def _parse(raw: bytes) -> tuple[str, bytes, bytes] | None:
    """Return head, body and what follows when the response is complete."""
    head, blank, rest = raw.partition(b"\r\n\r\n")
    if not blank:
        return None
    if _is_chunked(head):
        body, after = _dechunk(rest)
        return None if after is None else (head.decode(), body, after)
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    return (head.decode(), rest[:length], rest[length:]) if len(rest) >= length else None


def _dechunk(data: bytes) -> tuple[bytes, bytes | None]:
    """Return the decoded bytes and what follows the last chunk; None while that has not come."""
    parts, at = [], 0
    while (line_end := data.find(b"\r\n", at)) >= 0:
        size, start = int(data[at:line_end], 16), line_end + 2
        parts.append(data[start : start + size])
        at = start + size + 2
        if at > len(data):
            break
        if size == 0:
            return b"".join(parts), data[at:]
    return b"".join(parts), None
