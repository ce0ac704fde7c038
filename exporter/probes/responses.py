"""Probe kind ``responses``: one request to the Responses API, with its typed stream events or without."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from exporter.model.clocks import Clock
from exporter.model.request import Endpoint, Request
from exporter.model.responses import RESPONSES
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import generate
from exporter.probes.base import Doors, ProbeKind, mine
from exporter.probes.generate import Generating

_OURS = frozenset({"model", "input", "stream", "max_output_tokens", "temperature", "background"})


class Params(Generating):
    """What is asked.  ``max_tokens`` is sent as ``max_output_tokens``; nothing is stored at the server."""

    system: Annotated[str, Field(min_length=1)] | None = None
    """Sent as ``instructions``."""
    tools: Annotated[tuple[dict[str, object], ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        generate.refuse_taken(self, _OURS)
        return self


def body_of(model: str, params: Params, prompt: str) -> dict[str, object]:
    """Return the JSON body of the request."""
    body: dict[str, object] = {
        "model": model,
        "input": prompt,
        "max_output_tokens": params.max_tokens,
        "stream": params.stream,
        "store": False,
    }
    optional = {
        "temperature": params.temperature,
        "instructions": params.system,
        "tools": None if params.tools is None else list(params.tools),
    }
    return body | {name: value for name, value in optional.items() if value is not None} | params.extra_body


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: without a stream end to end alone, with a single token no gap."""
    return generate.clocks_of(mine(params, Params, "responses"))


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and judge what came back."""
    params = mine(spec.params, Params, "responses")
    body = body_of(target.model, params, generate.prompt_now(params, target, spec, doors))
    request = Request(endpoint=Endpoint.RESPONSES, body=body)
    return await generate.ask(target, spec, doors, params=params, request=request, dialect=RESPONSES)


KIND = ProbeKind(name="responses", params=Params, clocks=clocks_of, run=run)
