"""The only importer of the openai SDK; itself imported at the first use, because it costs 0.6 s of CPU."""

import contextlib
import inspect
from collections.abc import Container
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai
from openai.resources.audio.transcriptions import AsyncTranscriptions
from openai.resources.chat.completions import AsyncCompletions
from openai.resources.completions import AsyncCompletions as AsyncTextCompletions
from openai.resources.embeddings import AsyncEmbeddings
from openai.resources.responses import AsyncResponses

from exporter.adapters.wire.transport import WIRE_CALL, WireCall, WireTransport
from exporter.adapters.wire.wire import Wire
from exporter.model.request import Endpoint, Request
from exporter.model.target import Azure

_KEY: ContextVar[str] = ContextVar("_KEY")
_KNOWN: dict[Endpoint, frozenset[str]] = {
    endpoint: frozenset(inspect.signature(create).parameters)
    for endpoint, create in (
        (Endpoint.CHAT, AsyncCompletions.create),
        (Endpoint.COMPLETIONS, AsyncTextCompletions.create),
        (Endpoint.RESPONSES, AsyncResponses.create),
        (Endpoint.EMBEDDINGS, AsyncEmbeddings.create),
        (Endpoint.TRANSCRIPTION, AsyncTranscriptions.create),
    )
}
"""The parameters that the SDK types itself; others are sent as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where a request goes, and what it carries to be let in."""

    base_url: str
    model: str
    azure: Azure | None = None
    key: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class Sdk:
    """SDK clients over the wire, one for each base URL, kept for the life of the loop."""

    def __init__(self, wire: Wire) -> None:
        self._transport = WireTransport(wire)
        self._clients: dict[tuple[str, str, Azure | None], openai.AsyncOpenAI] = {}

    async def send(self, access: Access, call: WireCall, request: Request) -> None:
        """Send one request; what came of it is in the call's receipt.

        What the SDK raises for (no response, 3xx, 4xx, 5xx) the transcript tells.
        """
        headers: dict[str, Any] = dict(access.headers)
        if access.key is None:
            # Without a key the SDK refuses to send, unless the header is left out of this very request.
            headers.setdefault("Authorization", openai.Omit())
        call_token, key_token = WIRE_CALL.set(call), _KEY.set(access.key or "")
        try:
            with contextlib.suppress(openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL):
                await _send(self._client(access), request, headers)
        finally:
            WIRE_CALL.reset(call_token)
            _KEY.reset(key_token)

    async def keep_only(self, base_urls: Container[str]) -> None:
        """Close the clients of every other base URL."""
        for place in [place for place in self._clients if place[0] not in base_urls]:
            await self._clients.pop(place).close()

    async def aclose(self) -> None:
        """Close the clients."""
        await self.keep_only(())

    def _client(self, access: Access) -> openai.AsyncOpenAI:
        # Azure names the model in the path, which belongs to the client.
        place = (access.base_url, access.model if access.azure else "", access.azure)
        client = self._clients.get(place)
        if client is None:
            client = self._clients[place] = _new_client(access, self._transport)
        return client


def _new_client(access: Access, transport: WireTransport) -> openai.AsyncOpenAI:
    http_client = httpx2.AsyncClient(
        transport=transport,
        headers={"Accept-Encoding": "identity"},
        trust_env=False,
        follow_redirects=False,
    )
    client: openai.AsyncOpenAI
    if access.azure is None:
        client = openai.AsyncOpenAI(
            api_key=_key_of_this_call, base_url=access.base_url, max_retries=0, http_client=http_client
        )
    else:
        client = openai.AsyncAzureOpenAI(
            api_key=_key_of_this_call,
            azure_endpoint=access.base_url,
            azure_deployment=access.azure.deployment or access.model,
            api_version=access.azure.api_version,
            max_retries=0,
            http_client=http_client,
        )
    # The SDK fills these from the environment, where they may be meant for another host.
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}  # noqa: SLF001 - OPENAI_CUSTOM_HEADERS has no other way out
    return client


async def _key_of_this_call() -> str:
    return _KEY.get()


async def _send(client: openai.AsyncOpenAI, request: Request, headers: dict[str, Any]) -> None:
    known, others = _split(request)
    more: dict[str, Any] = {"extra_headers": headers, "extra_body": others or None}
    match request.endpoint:
        case Endpoint.CHAT:
            response: Any = client.chat.completions.with_streaming_response.create(**known, **more)
        case Endpoint.COMPLETIONS:
            response = client.completions.with_streaming_response.create(**known, **more)
        case Endpoint.RESPONSES:
            response = client.responses.with_streaming_response.create(**known, **more)
        case Endpoint.EMBEDDINGS:
            response = client.embeddings.with_streaming_response.create(**known, **more)
        case Endpoint.MODELS:
            response = client.models.with_streaming_response.list(extra_headers=headers)
        case Endpoint.TRANSCRIPTION:
            response = client.audio.transcriptions.with_streaming_response.create(**known, **more)
        case Endpoint.RERANK:
            # The SDK has no method for it; its own request machinery does the rest.
            await client.post(
                "/rerank", body=dict(request.body), cast_to=httpx2.Response, options={"headers": headers}
            )
            return
    async with response:
        pass


def _split(request: Request) -> tuple[dict[str, Any], dict[str, object]]:
    """Return the parameters that the SDK has names for, and the others."""
    names = _KNOWN.get(request.endpoint, frozenset())
    known: dict[str, Any] = {name: value for name, value in request.body.items() if name in names}
    if request.upload is not None:
        known["file"] = (request.upload.name, request.upload.data, request.upload.content_type)
    return known, {name: value for name, value in request.body.items() if name not in names}
