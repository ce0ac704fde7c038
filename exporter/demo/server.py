"""The HTTP server and the engine's thread, from start to stop."""

import asyncio
import hmac
import json
import logging
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from exporter.demo.api import Api
from exporter.demo.engine import Engine
from exporter.demo.errors import ApiError, openai_errors
from exporter.demo.events import Event
from exporter.demo.faults import Faults
from exporter.demo.jobs import Job
from exporter.demo.lifetime import stop_signals
from exporter.demo.model import Transformer
from exporter.demo.requests import MODEL_ID
from exporter.demo.settings import Settings

_LOG = logging.getLogger("demo")
_MAX_BODY_BYTES = 1 << 20
# The interpreter's default of 5 ms would hold a chunk back that long behind a decode step.
_SWITCH_INTERVAL_S = 0.0005


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM, SIGINT or, if asked for, the end of standard input.

    Prints one JSON line with the base URL when ready.  Raises OSError when the address is not to be had,
    and whatever the engine died of.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    loop = asyncio.get_running_loop()
    engine = Engine(
        Transformer(),
        max_batch=settings.max_batch,
        max_queue=settings.max_queue,
        post=lambda events: loop.call_soon_threadsafe(_deliver, events),
        clock=time.monotonic,
    )
    runner = web.AppRunner(
        build_app(engine, settings),
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=settings.grace,
    )
    with (
        ThreadPoolExecutor(1, "engine") as threads,
        stop_signals(watch_stdin=settings.exit_with_parent) as stop,
    ):
        await runner.setup()
        working: asyncio.Future[Any] = loop.run_in_executor(threads, engine.run)
        try:
            site = web.TCPSite(runner, settings.host, settings.port)
            await site.start()
            _announce(runner)
            told: asyncio.Future[Any] = asyncio.ensure_future(stop.wait())
            await asyncio.wait({told, working}, return_when=asyncio.FIRST_COMPLETED)
            told.cancel()
            _LOG.info("stopping: up to %g s for the requests that are running", settings.grace)
        finally:
            await runner.cleanup()
            engine.stop()
            await working


def build_app(engine: Engine, settings: Settings) -> web.Application:
    """Return the application: the API behind the error format and, if there is one, the key."""
    middlewares: list[Middleware] = [openai_errors]
    if settings.api_key is not None:
        middlewares.append(_require_key(settings.api_key))
    app = web.Application(middlewares=middlewares, client_max_size=_MAX_BODY_BYTES)
    app.add_routes(Api(engine, Faults(settings.faults), time.monotonic).routes())
    app.on_response_prepare.append(_add_request_id)
    return app


def _deliver(events: list[tuple[Job, Event]]) -> None:
    for job, event in events:
        job.mailbox.put(event)


def _announce(runner: web.AppRunner) -> None:
    host, port = runner.addresses[0][:2]
    shown = f"[{host}]" if ":" in host else host
    sys.stdout.write(json.dumps({"listening": f"http://{shown}:{port}/v1"}) + "\n")
    sys.stdout.flush()
    _LOG.info("serving %s: a tiny transformer with random weights; its text means nothing", MODEL_ID)


def _require_key(key: str) -> Middleware:
    expected = f"Bearer {key}".encode()

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if request.path.startswith("/v1/") and not hmac.compare_digest(given, expected):
            raise ApiError(401, "Incorrect API key provided.", code="invalid_api_key")
        return await handler(request)

    return check


async def _add_request_id(request: web.Request, response: web.StreamResponse) -> None:  # noqa: ARG001 (a signal's signature)
    response.headers["x-request-id"] = f"req_{uuid.uuid4().hex}"
