"""Answers on their way to the client: as server-sent events, in one piece, or broken off."""

import json
from collections.abc import AsyncIterator

from aiohttp import web

from exporter.demo.answers import Format, Json, usage
from exporter.demo.errors import server_error
from exporter.demo.events import Delta, Done, Event
from exporter.demo.faults import BrokenOffError, Fault
from exporter.demo.requests import Generate

STOPPING = "The server is stopping."


async def send_stream(
    request: web.Request, events: AsyncIterator[Event], asked: Generate, form: Format, fault: Fault
) -> web.StreamResponse:
    """Send each piece of text as it comes, then the finish reason, the usage if asked for, ``[DONE]``."""
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    )
    await response.prepare(request)
    opening = form.opening()
    if opening is not None:
        await _send(response, opening)
    try:
        async for event in events:
            match event:
                case Delta(text=text):
                    await _send(response, form.delta(text))
                case Done(finish=finish, tokens=tokens):
                    await _send(response, form.closing(finish))
                    if asked.include_usage:
                        await _send(response, form.usage(usage(len(asked.prompt), tokens)))
                    await response.write(b"data: [DONE]\n\n")
                case _:
                    await _send(response, server_error(503, STOPPING).body)
    except BrokenOffError:
        if fault.cut:
            _break_connection(request)
    return response


async def collect(events: AsyncIterator[Event]) -> tuple[str, Done]:
    """Return the whole text and how it ended.  Raises ApiError 503 when the server stops first."""
    pieces: list[str] = []
    async for event in events:
        if isinstance(event, Done):
            return "".join(pieces), event
        if isinstance(event, Delta):
            pieces.append(event.text)
    raise server_error(503, STOPPING)


async def send_whole(request: web.Request, answer: Json, *, cut: bool) -> web.StreamResponse:
    """Send an answer in one piece, or break the connection when half of it is sent."""
    body = _encode(answer)
    if not cut:
        return web.Response(body=body, content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(body)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _break_connection(request)
    return response


async def _send(response: web.StreamResponse, event: Json) -> None:
    await response.write(b"data: " + _encode(event) + b"\n\n")


def _encode(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _break_connection(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
