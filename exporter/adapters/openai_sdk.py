"""The only importer of the openai SDK; itself imported at the first use, because it costs 0.6 s of CPU."""

import contextlib
import inspect
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import httpx2
import openai
from openai.resources.chat.completions import AsyncCompletions

from exporter.adapters.wire.transport import WIRE_CALL, WireCall, WireTransport
from exporter.adapters.wire.wire import Wire

_KEY: ContextVar[str] = ContextVar("_KEY")
_CHAT_ARGUMENTS = frozenset(inspect.signature(AsyncCompletions.create).parameters)


class Sdk:
    """SDK clients over the wire, one for each base URL, kept for the life of the loop."""

    def __init__(self, wire: Wire) -> None:
        self._transport = WireTransport(wire)
        self._clients: dict[str, openai.AsyncOpenAI] = {}

    async def chat(self, base_url: str, key: str | None, call: WireCall, body: Mapping[str, object]) -> None:
        """Request one chat completion; what came of it is in the call's receipt.

        Parameters that the SDK does not know are sent as they are.
        """
        known: dict[str, Any] = {name: value for name, value in body.items() if name in _CHAT_ARGUMENTS}
        others = {name: value for name, value in body.items() if name not in _CHAT_ARGUMENTS}
        completions = self._client(base_url).chat.completions.with_streaming_response
        response = completions.create(**known, extra_body=others or None, extra_headers=_headers(key))
        await _carry(response, key, call)

    async def aclose(self) -> None:
        """Close the clients."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    def _client(self, base_url: str) -> openai.AsyncOpenAI:
        client = self._clients.get(base_url)
        if client is None:
            client = self._clients[base_url] = _new_client(base_url, self._transport)
        return client


def _new_client(base_url: str, transport: WireTransport) -> openai.AsyncOpenAI:
    client = openai.AsyncOpenAI(
        api_key=_key_of_this_call,
        base_url=base_url,
        max_retries=0,
        http_client=httpx2.AsyncClient(
            transport=transport,
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
            follow_redirects=False,
        ),
    )
    # The SDK fills these from the environment, where they may be meant for another host.
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}  # noqa: SLF001 - OPENAI_CUSTOM_HEADERS has no other way out
    return client


def _headers(key: str | None) -> Any:
    """Return what makes the SDK leave its ``Authorization`` out when there is no key."""
    return {"Authorization": openai.Omit()} if key is None else None


async def _key_of_this_call() -> str:
    return _KEY.get()


async def _carry(
    response: contextlib.AbstractAsyncContextManager[object], key: str | None, call: WireCall
) -> None:
    """Run a request of the SDK.  What it raises for (no response, 3xx, 4xx, 5xx) the transcript tells."""
    call_token, key_token = WIRE_CALL.set(call), _KEY.set(key or "")
    try:
        with contextlib.suppress(openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL):
            async with response:
                pass
    finally:
        WIRE_CALL.reset(call_token)
        _KEY.reset(key_token)
