"""The endpoints."""

import asyncio
import dataclasses
import time
import uuid
from collections.abc import AsyncIterator, Callable

import numpy as np
from aiohttp import web

from exporter.demo import answers, fields, requests
from exporter.demo.answers import ChatFormat, CompletionFormat, Format
from exporter.demo.delivery import STOPPING, collect, send_stream, send_whole
from exporter.demo.engine import Engine, QueueFullError
from exporter.demo.errors import overloaded, server_error
from exporter.demo.events import Event, Vectors
from exporter.demo.faults import Fault, Faults, afflicted
from exporter.demo.jobs import Embedding, Generation, Job
from exporter.demo.requests import Generate


class Api:
    """Turns HTTP requests into jobs for the engine, and their events into answers."""

    def __init__(self, engine: Engine, faults: Faults, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._faults = faults
        self._clock = clock
        self._shape = engine.model.shape

    def routes(self) -> list[web.RouteDef]:
        """Return the routes of this API."""
        return [
            web.post("/v1/chat/completions", self.chat),
            web.post("/v1/completions", self.complete),
            web.post("/v1/embeddings", self.embed),
            web.get("/v1/models", self.models),
            web.get("/v1/models/{model}", self.model),
            web.get("/health", self.health),
        ]

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer ``POST /v1/chat/completions``."""
        asked = requests.chat(fields.parse(await request.read()), context=self._shape.context)
        form = ChatFormat(
            id=f"chatcmpl-{uuid.uuid4().hex}", created=int(time.time()), usage_in_chunks=asked.include_usage
        )
        return await self._generate(request, asked, form)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Answer ``POST /v1/completions``."""
        asked = requests.completion(fields.parse(await request.read()), context=self._shape.context)
        form = CompletionFormat(
            id=f"cmpl-{uuid.uuid4().hex}", created=int(time.time()), usage_in_chunks=asked.include_usage
        )
        return await self._generate(request, asked, form)

    async def embed(self, request: web.Request) -> web.StreamResponse:
        """Answer ``POST /v1/embeddings``."""
        body = fields.parse(await request.read())
        asked = requests.embeddings(body, context=self._shape.context, width=self._shape.width)
        fault = self._draw()
        job = Embedding(inputs=asked.inputs)
        arrived_s = self._submit(job)
        try:
            async for event in self._events(job, _in_one_piece(fault), arrived_s):
                if isinstance(event, Vectors):
                    kept = event.rows[:, : asked.dimensions]
                    vectors = kept / np.linalg.norm(kept, axis=-1, keepdims=True)
                    tokens = sum(map(len, asked.inputs))
                    answer = answers.embeddings(vectors, as_base64=asked.base64, tokens=tokens)
                    return await send_whole(request, answer, cut=fault.cut)
        finally:
            self._engine.cancel(job)
        raise server_error(503, STOPPING)

    async def models(self, request: web.Request) -> web.Response:  # noqa: ARG002 (aiohttp's handler signature)
        """Answer ``GET /v1/models``."""
        return web.json_response({"object": "list", "data": [answers.model_card()]})

    async def model(self, request: web.Request) -> web.Response:
        """Answer ``GET /v1/models/{model}``."""
        requests.check_known_model(request.match_info["model"])
        return web.json_response(answers.model_card())

    async def health(self, request: web.Request) -> web.Response:  # noqa: ARG002 (aiohttp's handler signature)
        """Answer ``GET /health`` with the engine's load."""
        return web.json_response({"status": "ok"} | dataclasses.asdict(self._engine.load))

    async def _generate(self, request: web.Request, asked: Generate, form: Format) -> web.StreamResponse:
        fault = self._draw()
        job = Generation(
            prompt=asked.prompt,
            max_tokens=asked.max_tokens,
            sampling=asked.sampling,
            stops=asked.stops,
            ignore_end=asked.ignore_end,
        )
        arrived_s = self._submit(job)
        try:
            if asked.stream:
                return await send_stream(request, self._events(job, fault, arrived_s), asked, form, fault)
            text, done = await collect(self._events(job, _in_one_piece(fault), arrived_s))
            counts = answers.usage(len(asked.prompt), done.tokens)
            return await send_whole(request, form.whole(text, done.finish, counts), cut=fault.cut)
        finally:
            # Whatever ended it, a client that left included: the slot is free again.
            self._engine.cancel(job)

    def _draw(self) -> Fault:
        fault = self._faults.draw()
        fault.refuse()
        return fault

    def _submit(self, job: Job) -> float:
        arrived_s = self._clock()
        try:
            self._engine.submit(job)
        except QueueFullError as full:
            raise overloaded(f"The waiting line is full ({full.limit} requests); try again later.") from None
        return arrived_s

    def _events(self, job: Job, fault: Fault, arrived_s: float) -> AsyncIterator[Event]:
        return afflicted(
            job.mailbox.events(), fault, arrived_s=arrived_s, clock=self._clock, sleep=asyncio.sleep
        )


def _in_one_piece(fault: Fault) -> Fault:
    """Return the fault without what only a stream can suffer before its end."""
    return dataclasses.replace(fault, cut=False, truncated=False)
