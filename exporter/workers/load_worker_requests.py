"""Prepared request bytes: what a load worker sends, made before the clock runs."""

import json
import random
from dataclasses import dataclass

from exporter.adapters.wire.request import WireRequest, encode, split_url
from exporter.model.load_plan import Api, Prompt
from exporter.model.load_protocol import Setup
from exporter.model.target import TlsOptions
from exporter.model.token_estimate import estimated_tokens

_DRAWS = 8192
_WORD = "word "


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as it goes on the wire, its input tokens as estimated, and the most that it may answer."""

    payload: bytes
    input_tokens: int
    output_tokens: int


class Requests:
    """Gives the request bytes of the n-th request; the mix is drawn once, so a run can be repeated."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._prepared = [self._prepare(prompt) for prompt in setup.prompts]
        rng = random.Random(setup.seed)  # noqa: S311 - a mix, not a secret
        weights = [prompt.weight for prompt in setup.prompts]
        self._draws = rng.choices(range(len(self._prepared)), weights, k=_DRAWS)

    def take(self, number: int) -> Prepared:
        """Return the ``number``-th request, counted from 0."""
        trace = self._setup.trace
        if trace:
            line = trace[number % len(trace)]
            prompt = Prompt(text=_WORD * max(1, line.input_tokens), max_tokens=max(1, line.output_tokens))
            return Prepared(self._prepare(prompt).payload, line.input_tokens, prompt.max_tokens)
        return self._prepared[self._draws[number % _DRAWS]]

    def _prepare(self, prompt: Prompt) -> Prepared:
        setup = self._setup
        origin, path = split_url(setup.base_url.rstrip("/") + setup.api.path)
        headers = [
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream" if setup.stream else "application/json"),
            ("Accept-Encoding", "identity"),
            ("User-Agent", "inference-exporter-load"),
        ]
        if setup.key is not None:
            headers.append(("Authorization", f"Bearer {setup.key}"))
        request = WireRequest(
            method="POST",
            origin=origin,
            path=path,
            headers=tuple(headers),
            body=json.dumps(body_of(setup, prompt)).encode(),
            timeout_s=setup.timeout_s,
            tls=TlsOptions(),
        )
        answer = 0 if setup.api is Api.EMBEDDINGS else prompt.max_tokens
        return Prepared(encode(request, absolute_form=False), estimated_tokens(len(prompt.text)), answer)


def body_of(setup: Setup, prompt: Prompt) -> dict[str, object]:
    """Return the JSON body of one request."""
    if setup.api is Api.EMBEDDINGS:
        return {"model": setup.model, "input": prompt.text}
    body: dict[str, object] = {"model": setup.model}
    if setup.api is Api.CHAT:
        body["messages"] = [{"role": "user", "content": prompt.text}]
    else:
        body["prompt"] = prompt.text
    body |= {"max_tokens": prompt.max_tokens, "stream": setup.stream}
    if setup.temperature is not None:
        body["temperature"] = setup.temperature
    if setup.stream:
        body["stream_options"] = {"include_usage": True}
    return body
