"""Idle connections, kept for the next request to the same place."""

import asyncio
from typing import NamedTuple

from exporter.adapters.wire.connection import Connection
from exporter.adapters.wire.proxy import Proxy
from exporter.adapters.wire.request import Origin
from exporter.model.target import IpFamily, TlsOptions

MAX_IDLE_S = 120.0
"""Shorter than the four minutes and more after which address translators forget a silent connection."""
MAX_IDLE_EACH = 64
MAX_IDLE_ALL = 1024


class Route(NamedTuple):
    """What two requests must have in common to use the same connection."""

    origin: Origin
    tls: TlsOptions
    proxy: Proxy | None
    ip: IpFamily | None = None


class Pool:
    """Hands out the connection that was used last, if it is still alive.

    An idle connection stays on the loop's watch, so one that the server closes gives its file descriptor back
    at once, and is never handed out.
    """

    def __init__(self, max_idle_s: float = MAX_IDLE_S) -> None:
        self._max_idle_s = max_idle_s
        self._idle: dict[Route, list[tuple[Connection, asyncio.TimerHandle]]] = {}

    def take(self, route: Route) -> Connection | None:
        """Return a live idle connection, or None."""
        idle = self._idle.get(route, [])
        while idle:
            connection, timer = idle.pop()
            timer.cancel()
            if connection.is_alive():
                return connection
            connection.close()
        self._idle.pop(route, None)
        return None

    def give(self, route: Route, connection: Connection) -> None:
        """Keep a connection for the next request, or close it where enough are kept."""
        connection.lend(None)
        # Dead ones have closed themselves; forget them before counting.
        idle = [entry for entry in self._idle.get(route, []) if entry[0].usable]
        if not connection.is_alive() or len(idle) >= MAX_IDLE_EACH or len(self) >= MAX_IDLE_ALL:
            connection.close()
        else:
            timer = asyncio.get_running_loop().call_later(self._max_idle_s, self._expire, route, connection)
            idle.append((connection, timer))
        self._idle[route] = idle

    def __len__(self) -> int:
        return sum(len(idle) for idle in self._idle.values())

    def close(self) -> None:
        """Close every idle connection."""
        for idle in self._idle.values():
            for connection, timer in idle:
                timer.cancel()
                connection.close()
        self._idle.clear()

    def _expire(self, route: Route, connection: Connection) -> None:
        connection.close()
        left = [entry for entry in self._idle.get(route, []) if entry[0] is not connection]
        if left:
            self._idle[route] = left
        else:
            self._idle.pop(route, None)
