"""Probe kind ``completions``: one legacy text completion, streamed or not."""

from typing import Self

from pydantic import BaseModel, model_validator

from exporter.model.answer import COMPLETION
from exporter.model.clocks import Clock
from exporter.model.request import Endpoint, Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import generate
from exporter.probes.base import Doors, ProbeKind, mine
from exporter.probes.generate import Generating

_OURS = frozenset({"model", "prompt", "stream", "max_tokens", "temperature", "n", "best_of"})


class Params(Generating):
    """What is asked.  ``stream_options: null`` in ``extra_body`` leaves ours out."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        generate.refuse_taken(self, _OURS)
        return self


def body_of(model: str, params: Params, prompt: str) -> dict[str, object]:
    """Return the JSON body of the request."""
    body: dict[str, object] = {
        "model": model,
        "prompt": prompt,
        "max_tokens": params.max_tokens,
        "stream": params.stream,
    }
    if params.temperature is not None:
        body["temperature"] = params.temperature
    if params.stream:
        body["stream_options"] = {"include_usage": True}
    body |= params.extra_body
    if body.get("stream_options", ...) is None:
        del body["stream_options"]
    return body


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: without a stream end to end alone, with a single token no gap."""
    return generate.clocks_of(mine(params, Params, "completions"))


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and judge what came back."""
    params = mine(spec.params, Params, "completions")
    body = body_of(target.model, params, generate.prompt_now(params, target, spec, doors))
    request = Request(endpoint=Endpoint.COMPLETIONS, body=body)
    return await generate.ask(target, spec, doors, params=params, request=request, dialect=COMPLETION)


KIND = ProbeKind(name="completions", params=Params, clocks=clocks_of, run=run)
