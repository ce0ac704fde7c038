"""The wire as a transport of httpx2, so that an SDK builds the requests and the wire carries them."""

from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass, field

import httpx2

from exporter.adapters.wire.request import MAX_RESPONSE_BYTES, Origin, WireRequest
from exporter.adapters.wire.wire import Receipt, Wire
from exporter.model.target import IpFamily, TlsOptions

_DEFAULT_PORTS = {"http": 80, "https": 443}
# What the SDK shall not act on: inflate (a small body may become any size), remember, prepare to follow.
_NOT_FOR_THE_SDK = frozenset({"content-encoding", "set-cookie", "location"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WireCall:
    """How one call of the SDK is to be carried, and where its transcript is left."""

    timeout_s: float
    tls: TlsOptions = TlsOptions()
    proxy: str | None = field(default=None, repr=False)
    ip: IpFamily | None = None
    fresh: bool = False
    max_response_bytes: int = MAX_RESPONSE_BYTES
    receipt: Receipt = field(default_factory=Receipt, compare=False)


WIRE_CALL: ContextVar[WireCall] = ContextVar("WIRE_CALL")
"""Set around a call of the SDK; read by ``WireTransport`` in the same task."""


class WireTransport(httpx2.AsyncBaseTransport):
    """Carries httpx2 requests over the wire; redirects are not followed."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry one request to its end and return the response with the whole body.

        The transcript goes to the ``WIRE_CALL`` of the calling task, whatever happens.  Raises
        httpx2.TransportError when no response came, and LookupError outside a ``WIRE_CALL``.
        """
        call = WIRE_CALL.get()
        transcript = await self._wire.exchange(await _wire_request(request, call), call.receipt)
        if transcript.status is None:
            raise httpx2.TransportError(transcript.fault_detail, request=request)
        headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in transcript.headers
            if name not in _NOT_FOR_THE_SDK
        ]
        return httpx2.Response(transcript.status, headers=headers, stream=_Body(transcript.content))


class _Body(httpx2.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


async def _wire_request(request: httpx2.Request, call: WireCall) -> WireRequest:
    url = request.url
    return WireRequest(
        method=request.method,
        origin=Origin(
            url.scheme, url.raw_host.decode("ascii").strip("[]"), url.port or _DEFAULT_PORTS[url.scheme]
        ),
        path=url.raw_path.decode("ascii"),
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
        ),
        body=await request.aread(),
        timeout_s=call.timeout_s,
        tls=call.tls,
        proxy=call.proxy,
        ip=call.ip,
        fresh=call.fresh,
        max_response_bytes=call.max_response_bytes,
    )
