"""Probe kind ``models``: a cheap sign of life; the model must be in the server's list."""

from pydantic import BaseModel, ConfigDict

from exporter.model.clocks import Clock
from exporter.model.document import Wrong
from exporter.model.json_text import dicts
from exporter.model.request import Endpoint, Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import fetch
from exporter.probes.base import Doors, ProbeKind, mine


class Params(BaseModel):
    """What is checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    listed: bool = True
    """Whether the target's model must be in the list; false for gateways that list none or other names."""


def check(body: dict[str, object], model: str, *, listed: bool) -> Wrong | None:
    """Return what is wrong with a list of models."""
    if not isinstance(body.get("data"), list):
        return Wrong("the JSON body has no list of data")
    names = [item.get("id") for item in dicts(body["data"])]
    if listed and model not in names:
        return Wrong(f"the model is not among the {len(names)} that the server lists")
    return None


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: end to end alone."""
    mine(params, Params, "models")
    return fetch.CLOCKS


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Ask once, never again, and look the model up."""
    params = mine(spec.params, Params, "models")
    request = Request(endpoint=Endpoint.MODELS)
    return await fetch.document(
        target, spec, doors, request, lambda body: check(body, target.model, listed=params.listed)
    )


KIND = ProbeKind(name="models", params=Params, clocks=clocks_of, run=run)
