"""Requests to OpenAI-compatible servers: the openai SDK builds and types them, the wire carries them."""

import asyncio
import gc
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from exporter.adapters.api_key import KeyUnavailable, read_key
from exporter.adapters.wire.wire import Wire
from exporter.model.target import Connection, ProbeSpec, Target
from exporter.model.transcript import Fault, Transcript

if TYPE_CHECKING:
    from exporter.adapters.openai_sdk import Sdk
    from exporter.adapters.wire.transport import WireCall


class OpenAiApi:
    """The door to OpenAI-compatible servers; belongs to one event loop.

    A target without a key is sent no ``Authorization`` header.  A key is read from its source at every
    request and sent to the target's own host only.
    """

    def __init__(self, wire: Wire | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self._wire = wire or Wire()
        self._environ = environ
        self._sdk: Sdk | None = None

    async def chat(self, target: Target, spec: ProbeSpec, body: dict[str, object]) -> Transcript:
        """Send one chat completion request and return what happened, whatever the network or server did.

        Raises only CancelledError, after the connection was closed.
        """
        return await self._request(
            target, spec, lambda sdk, key, call: sdk.chat(target.base_url, key, call, body)
        )

    async def prepare(self) -> None:
        """Import the SDK now, 0.6 s of CPU, and not when the first probe is due."""
        await self._prepared()

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

    async def _request(
        self,
        target: Target,
        spec: ProbeSpec,
        send: "Callable[[Sdk, str | None, WireCall], Awaitable[None]]",
    ) -> Transcript:
        """Do what every endpoint's method has in common."""
        sdk = await self._prepared()
        from exporter.adapters.wire.transport import WireCall  # noqa: PLC0415 - it imports what comes with the SDK

        try:
            key = None if target.key is None else read_key(target.key, self._environ)
        except KeyUnavailable as error:
            return _nothing_sent(Fault.NO_KEY, str(error))
        fresh = spec.connection is Connection.FRESH
        call = WireCall(timeout_s=spec.timeout_s, tls=target.tls, proxy=target.proxy, fresh=fresh)
        await send(sdk, key, call)
        return call.receipt.transcript or _nothing_sent(
            Fault.CONNECT, f"no request can be made of {target.base_url}; check the URL"
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
