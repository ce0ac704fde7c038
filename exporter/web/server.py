"""The HTTP server: listens, bounds its clients, stops."""

import asyncio
import errno

from aiohttp import web

from exporter.web.answers import Answers
from exporter.web.connection import Connection, Refusal
from exporter.web.limits import Limits
from exporter.web.pages import Pages

_NEXT_STEPS = {
    errno.EADDRINUSE: "stop the process that holds it, or choose another address with --listen",
    errno.EADDRNOTAVAIL: "this machine has no such address; choose one that it has with --listen",
    errno.EACCES: "ports below 1024 need a privilege; choose a higher one with --listen",
}


class ListenError(Exception):
    """The address cannot be listened on; the message says which, why, and what to do."""


class WebServer:
    """Serves the pages on one address."""

    def __init__(self, answers: Answers, *, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._pages = Pages(answers, self._limits)
        self._runner = web.AppRunner(self._pages.application(), access_log=None, handle_signals=False)
        self._listener: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen, and return the port: the one that was found where ``port`` is 0.

        Raises ListenError.
        """
        await self._runner.setup()
        try:
            self._listener = await asyncio.get_running_loop().create_server(self._accept, host, port)
        except OSError as error:
            await self.stop(0)
            raise ListenError(_explain(host, port, error)) from error
        bound: int = self._listener.sockets[0].getsockname()[1]
        return bound

    async def stop(self, grace_s: float) -> None:
        """Listen no more, let requests in service finish within ``grace_s``, and close every connection."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._runner.server is not None:
            self._runner.server.pre_shutdown()
            await self._runner.server.shutdown(grace_s)
        await self._runner.cleanup()
        self._pages.close()

    def _accept(self) -> asyncio.Protocol:
        server = self._runner.server
        if server is None or len(server.connections) >= self._limits.connections:
            return Refusal()
        return Connection(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=self._limits.idle_s,
            lingering_time=self._limits.linger_s,
            auto_decompress=False,  # no page reads a body, and a bad one made aiohttp log a traceback
            access_log=None,  # type: ignore[arg-type]  # None is how aiohttp turns it off
        )


def _explain(host: str, port: int, error: OSError) -> str:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    reason = error.strerror or type(error).__name__
    step = _NEXT_STEPS.get(error.errno or 0, "choose another address with --listen")
    return f"cannot listen on {address}: {reason}; {step}"
