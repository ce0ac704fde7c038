"""Probe kind ``rerank``: documents in the order of their relevance (the shape of vLLM, Jina and Cohere)."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.model.clocks import Clock
from exporter.model.document import Wrong
from exporter.model.json_text import count, dicts
from exporter.model.request import Endpoint, Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import fetch
from exporter.probes.base import Doors, ProbeKind, mine

_Text = Annotated[str, Field(min_length=1)]
_OURS = frozenset({"model", "query", "documents", "top_n"})


class Params(BaseModel):
    """What is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: _Text = "What is the capital of France?"
    documents: Annotated[tuple[_Text, ...], Field(min_length=2, max_length=1000)] = (
        "Bananas are yellow.",
        "Paris is the capital of France.",
    )
    top_n: Annotated[int, Field(ge=1)] | None = None
    """How many to get back; all of them where it is not given."""
    expect_first: Annotated[int, Field(ge=0)] | None = None
    """Number of the document, counted from 0, that must come first."""
    extra_body: dict[str, object] = Field(default_factory=dict)
    """Server-specific fields, sent as they are."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.expect_first is not None and self.expect_first >= len(self.documents):
            raise ValueError(f"expect_first counts from 0; there are {len(self.documents)} documents")
        if taken := sorted(_OURS & self.extra_body.keys()):
            raise ValueError(f"extra_body may not hold {', '.join(taken)}: the probe sets it")
        return self


def check(body: dict[str, object], params: Params) -> Wrong | None:
    """Return what is wrong with a ranking."""
    results = dicts(body.get("results"))
    wanted = min(params.top_n or len(params.documents), len(params.documents))
    if len(results) != wanted:
        return Wrong(f"{len(results)} results, not {wanted}")
    ranks = [count(result.get("index")) for result in results]
    scores = [result.get("relevance_score") for result in results]
    numbers = [score for score in scores if isinstance(score, (int, float)) and not isinstance(score, bool)]
    if (
        len(numbers) != len(scores)
        or len({*ranks}) != wanted
        or not {*ranks} <= {*range(len(params.documents))}
    ):
        return Wrong("a result lacks its index or its relevance_score")
    if numbers != sorted(numbers, reverse=True):
        return Wrong("the results are not in the order of their scores")
    if params.expect_first is not None and ranks[0] != params.expect_first:
        return Wrong("another document came first than expect_first says")
    return None


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: end to end alone."""
    mine(params, Params, "rerank")
    return fetch.CLOCKS


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and check the ranking."""
    params = mine(spec.params, Params, "rerank")
    body: dict[str, object] = {
        "model": target.model,
        "query": params.query,
        "documents": list(params.documents),
    }
    if params.top_n is not None:
        body["top_n"] = params.top_n
    request = Request(endpoint=Endpoint.RERANK, body=body | params.extra_body)
    return await fetch.document(target, spec, doors, request, lambda got: check(got, params))


KIND = ProbeKind(name="rerank", params=Params, clocks=clocks_of, run=run)
