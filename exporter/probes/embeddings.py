"""Probe kind ``embeddings``: one batch of texts, each of which must come back as a vector of numbers."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.model.clocks import Clock
from exporter.model.document import Wrong
from exporter.model.json_text import dicts
from exporter.model.request import Endpoint, Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import fetch
from exporter.probes.base import Doors, ProbeKind, mine

_Text = Annotated[str, Field(min_length=1)]
_OURS = frozenset({"model", "input", "dimensions", "encoding_format"})
_BYTES_A_NUMBER = 4


class Params(BaseModel):
    """What is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: _Text | Annotated[tuple[_Text, ...], Field(min_length=1, max_length=2048)] = (
        "The quick brown fox jumps over the lazy dog."
    )
    """One text or a batch of them."""
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    """Ask for vectors of this length, for models that can shorten them."""
    expect_dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    """How long every vector must be; ``dimensions`` where that is given."""
    encoding_format: Literal["float", "base64"] = "float"
    extra_body: dict[str, object] = Field(default_factory=dict)
    """Server-specific fields, sent as they are."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if taken := sorted(_OURS & self.extra_body.keys()):
            raise ValueError(f"extra_body may not hold {', '.join(taken)}: the probe sets it")
        return self

    @property
    def inputs(self) -> int:
        """How many vectors must come back."""
        return 1 if isinstance(self.input, str) else len(self.input)


def body_of(model: str, params: Params) -> dict[str, object]:
    """Return the JSON body of the request."""
    texts = params.input if isinstance(params.input, str) else list(params.input)
    body: dict[str, object] = {"model": model, "input": texts, "encoding_format": params.encoding_format}
    if params.dimensions is not None:
        body["dimensions"] = params.dimensions
    return body | params.extra_body


def check(body: dict[str, object], params: Params) -> Wrong | None:
    """Return what is wrong with an answer: too few vectors, none of numbers, or of another length."""
    vectors = [item.get("embedding") for item in dicts(body.get("data"))]
    if len(vectors) != params.inputs:
        return Wrong(f"{len(vectors)} vectors for {params.inputs} inputs")
    lengths = {_length(vector) for vector in vectors}
    if None in lengths or 0 in lengths:
        return Wrong("a vector is not a list of finite numbers")
    if len(lengths) > 1:
        return Wrong("the vectors are not all of one length")
    wanted = params.expect_dimensions or params.dimensions
    (length,) = lengths
    return Wrong(f"vectors of {length} numbers, not {wanted}") if wanted not in {None, length} else None


def _length(vector: object) -> int | None:
    if isinstance(vector, str):
        # base64 of little-endian float32; 4 characters carry 3 bytes.
        size = len(vector) // 4 * 3 - vector[-2:].count("=")
        return size // _BYTES_A_NUMBER if size % _BYTES_A_NUMBER == 0 else None
    if not isinstance(vector, list):
        return None
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < 1e30 for x in vector)
    return len(vector) if numbers else None


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: end to end alone."""
    mine(params, Params, "embeddings")
    return fetch.CLOCKS


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and check every vector."""
    params = mine(spec.params, Params, "embeddings")
    request = Request(endpoint=Endpoint.EMBEDDINGS, body=body_of(target.model, params))
    return await fetch.document(target, spec, doors, request, lambda body: check(body, params))


KIND = ProbeKind(name="embeddings", params=Params, clocks=clocks_of, run=run)
