"""Requests to servers: the openai SDK builds those to OpenAI-compatible ones, the wire carries them all."""

import asyncio
import gc
import os
import time
from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING

from exporter.adapters.api_key import KeyUnavailable, read_header, read_key
from exporter.adapters.wire.request import WireRequest, split_url
from exporter.adapters.wire.wire import Receipt, Wire
from exporter.model.request import PlainRequest, Request
from exporter.model.target import Connection, ProbeSpec, Target
from exporter.model.transcript import Fault, Piece, Transcript

if TYPE_CHECKING:
    from exporter.adapters.openai_sdk import Sdk


class OpenAiApi:
    """The door to servers; belongs to one event loop.

    A target without a key is sent no ``Authorization`` header.  A key is read from its source at every
    request and sent to the target's own host only.
    """

    def __init__(self, wire: Wire | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self._wire = wire or Wire()
        self._environ = environ
        self._sdk: Sdk | None = None

    async def send(
        self,
        target: Target,
        spec: ProbeSpec,
        request: Request | PlainRequest,
        on_piece: Callable[[Piece], None] | None = None,
    ) -> Transcript:
        """Send one request and return what happened, whatever the network or server did.

        ``on_piece`` is told of each piece of the body as it comes.  Raises only CancelledError, after the
        connection was closed.
        """
        try:
            key = None if target.key is None else read_key(target.key, self._environ)
            headers = tuple(read_header(header, self._environ) for header in target.headers)
        except KeyUnavailable as error:
            return _nothing_sent(Fault.NO_KEY, str(error))
        receipt = Receipt(on_piece)
        if isinstance(request, PlainRequest):
            return await self._plain(target, spec, request, key=key, headers=headers, receipt=receipt)
        return await self._typed(target, spec, request, key=key, headers=headers, receipt=receipt)

    async def prepare(self) -> None:
        """Import the SDK now, 0.6 s of CPU, and not when the first probe is due."""
        await self._prepared()

    async def keep_only(self, base_urls: Container[str]) -> None:
        """Let go of what is held for every other base URL; what is asked of one later comes back."""
        if self._sdk is not None:
            await self._sdk.keep_only(base_urls)

    async def aclose(self) -> None:
        """Close every connection."""
        if self._sdk is not None:
            await self._sdk.aclose()
        await self._wire.aclose()

    async def _prepared(self) -> "Sdk":
        if self._sdk is None:
            # In a thread, because the loop has other things to read; and before any clock runs.
            sdk_type = await asyncio.to_thread(_import_sdk)
            self._sdk = self._sdk or sdk_type(self._wire)
        return self._sdk

    async def _typed(
        self,
        target: Target,
        spec: ProbeSpec,
        request: Request,
        *,
        key: str | None,
        headers: tuple[tuple[str, str], ...],
        receipt: Receipt,
    ) -> Transcript:
        sdk = await self._prepared()
        from exporter.adapters.openai_sdk import Access  # noqa: PLC0415 - it imports the SDK
        from exporter.adapters.wire.transport import WireCall  # noqa: PLC0415 - it imports what comes with it

        call = WireCall(
            timeout_s=spec.timeout_s,
            tls=target.tls,
            proxy=target.proxy,
            ip=target.ip,
            fresh=spec.connection is Connection.FRESH,
            receipt=receipt,
        )
        access = Access(
            base_url=target.base_url, model=target.model, azure=target.azure, key=key, headers=headers
        )
        await sdk.send(access, call, request)
        return receipt.transcript or _nothing_sent(
            Fault.CONNECT, f"no request can be made of {target.base_url}; check the URL"
        )

    async def _plain(
        self,
        target: Target,
        spec: ProbeSpec,
        request: PlainRequest,
        *,
        key: str | None,
        headers: tuple[tuple[str, str], ...],
        receipt: Receipt,
    ) -> Transcript:
        try:
            origin, path = split_url(target.base_url + request.path)
        except ValueError:
            return _nothing_sent(Fault.CONNECT, f"no request can be made of {target.base_url}; check the URL")
        own = [("Accept-Encoding", "identity"), ("User-Agent", "inference-exporter"), *request.headers]
        if key is not None:
            own.append(("Authorization", f"Bearer {key}"))
        theirs = {name.lower() for name, _ in headers}
        return await self._wire.exchange(
            WireRequest(
                method=request.method,
                origin=origin,
                path=path,
                headers=(*((name, value) for name, value in own if name.lower() not in theirs), *headers),
                body=request.content,
                timeout_s=spec.timeout_s,
                tls=target.tls,
                proxy=target.proxy,
                ip=target.ip,
                fresh=spec.connection is Connection.FRESH,
            ),
            receipt,
        )


def _import_sdk() -> "type[Sdk]":
    from exporter.adapters.openai_sdk import Sdk  # noqa: PLC0415

    # The SDK's 90,000 objects live as long as the process.  Walking them at every full collection would hold
    # the interpreter lock, and with it the reading of every stream, for 50 ms each time.
    gc.collect()
    gc.freeze()
    return Sdk


def _nothing_sent(fault: Fault, detail: str) -> Transcript:
    now_ns = time.monotonic_ns()
    return Transcript(started_ns=now_ns, closed_ns=now_ns, fault=fault, fault_detail=detail)
