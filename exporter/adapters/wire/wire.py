"""The wire's front door: a request in, a transcript out."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping

from exporter.adapters.wire import kernel
from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.connect import Connector
from exporter.adapters.wire.draft import Draft
from exporter.adapters.wire.exchange import carry
from exporter.adapters.wire.faults import WireError
from exporter.adapters.wire.loop import away_ns
from exporter.adapters.wire.pool import MAX_IDLE_S, Pool, Route
from exporter.adapters.wire.proxy import choose_proxy
from exporter.adapters.wire.request import WireRequest, encode
from exporter.adapters.wire.resolve import Resolver
from exporter.model.transcript import Fault, Piece, Transcript

_SHORT_NS = 500_000_000
"""Being away for less than this says something about the machine, but nothing about the verdict."""


class Receipt:
    """Where the transcript is left, also when the caller is cancelled before it could be returned.

    ``on_piece`` is told of each piece of the body as it comes.
    """

    __slots__ = ("on_piece", "transcript")

    def __init__(self, on_piece: Callable[[Piece], None] | None = None) -> None:
        self.on_piece = on_piece
        self.transcript: Transcript | None = None


class Wire:
    """Carries HTTP/1.1 requests over kept or fresh connections; belongs to one event loop.

    Never retries: a request that was written once is never written again.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str] = os.environ,
        clock: StampClock | None = None,
        resolver: Resolver | None = None,
        max_idle_s: float = MAX_IDLE_S,
    ) -> None:
        self._environ = environ
        self._clock = clock or StampClock()
        self._connector = Connector(self._clock, resolver or Resolver())
        self._pool = Pool(max_idle_s)
        self._stamps_on = _keep_stamps_on()

    async def exchange(self, request: WireRequest, receipt: Receipt | None = None) -> Transcript:
        """Send a request and return what happened, whatever that was.

        Raises only CancelledError, after closing the connection (the receipt then has the transcript), and
        ValueError for a request that cannot be written as HTTP.
        """
        draft = Draft(self._clock.now_ns(), on_piece=None if receipt is None else receipt.on_piece)
        away_before_ns = away_ns()
        fault: Fault | None = None
        detail = ""
        try:
            async with asyncio.timeout(request.timeout_s):
                await self._carry(request, draft)
        except WireError as error:
            fault, detail = error.fault, error.detail
        except TimeoutError:
            if not draft.answered:
                fault, detail = self._deadline(request, draft, away_ns() - away_before_ns)
        except asyncio.CancelledError:
            if receipt is not None:
                receipt.transcript = draft.finish(self._clock.now_ns(), Fault.CANCELLED, "cancelled")
            raise
        transcript = draft.finish(self._clock.now_ns(), fault, detail)
        if receipt is not None:
            receipt.transcript = transcript
        return transcript

    async def aclose(self) -> None:
        """Close the idle connections."""
        self._pool.close()
        if self._stamps_on is not None:
            self._stamps_on.close()
            self._stamps_on = None

    def _deadline(self, request: WireRequest, draft: Draft, away_ns: int) -> tuple[Fault, str]:
        """Tell a server that took too long from a program that was not there to listen.

        A stopped process (or host) shows in how late the deadline struck, a blocked loop in its own account.
        """
        timeout_ns = int(request.timeout_s * 1e9)
        late_ns = self._clock.now_ns() - draft.started_ns - timeout_ns
        unattended_ns = max(late_ns, away_ns)
        if unattended_ns > max(timeout_ns // 10, _SHORT_NS):
            return (
                Fault.UNATTENDED,
                f"this program was held up for {unattended_ns / 1e9:.2g} s of the request",
            )
        return Fault.DEADLINE, f"not over after {request.timeout_s:g} s"

    async def _carry(self, request: WireRequest, draft: Draft) -> None:
        proxy = choose_proxy(request.origin, request.proxy, self._environ)
        forwarded = proxy is not None and request.origin.scheme == "http"
        extra = proxy.headers if proxy is not None and forwarded else ()
        payload = encode(request, absolute_form=forwarded, extra=extra)
        route = Route(request.origin, request.tls, proxy, request.ip)
        connection = None if request.fresh else self._pool.take(route)
        if connection is None:
            connection = await self._connector.open(request.origin, request.tls, proxy, draft, request.ip)
        else:
            draft.reused = True
        keep = False
        try:
            draft.note_connection(connection)
            keep = await carry(connection, payload, draft, request.max_response_bytes, self._clock.now_ns())
        finally:
            if keep and not request.fresh:
                self._pool.give(route, connection)
            else:
                connection.close()


def _keep_stamps_on() -> socket.socket | None:
    """Hold a socket that wants stamps.

    The kernel stamps packets only while some socket asks, and switching it patches running kernel code: the
    first packets go without a stamp, and a fresh connection a probe would switch it on and off each time.
    """
    keeper = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if kernel.ask_for_stamps(keeper):
        return keeper
    keeper.close()
    return None
