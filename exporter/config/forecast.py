"""What a configuration will send and cost in a day, before it has sent anything."""

from dataclasses import dataclass

from pydantic import BaseModel

from exporter.model.configuration import Configuration
from exporter.model.target import ProbeSpec, Target
from exporter.model.token_estimate import estimated_tokens

DAY_S = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One probe's day.  Money is None where there are no prices."""

    target: Target
    spec: ProbeSpec
    requests: float
    input_tokens: float
    """An estimate, from the characters of the prompt."""
    output_tokens: float
    """An upper bound: every answer as long as it may get."""
    cost: float | None
    """In the currency of the target's prices."""


def forecast(configuration: Configuration) -> tuple[Forecast, ...]:
    """Return one forecast a probe, in the order of the file."""
    return tuple(forecast_of(plan.target, spec) for plan in configuration.targets for spec in plan.probes)


def forecast_of(target: Target, spec: ProbeSpec) -> Forecast:
    """Return the day of one probe."""
    requests = DAY_S / spec.every_s
    input_tokens, output_tokens = (requests * count for count in most_tokens(spec))
    return Forecast(
        target=target,
        spec=spec,
        requests=requests,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=None if target.prices is None else target.prices.of(input_tokens, output_tokens),
    )


def most_tokens(spec: ProbeSpec) -> tuple[int, int]:
    """Return an estimate of the input tokens of one request, and the most output tokens it can have.

    A kind without ``max_tokens`` generates none.
    """
    params = spec.params.model_dump() if isinstance(spec.params, BaseModel) else {}
    characters = _characters(params.get("messages"))
    if not characters:
        longest = max(_characters(params.get("prompt")), *map(_characters, params.get("prompts") or ("",)))
        others = ("system", "input", "query", "documents", "tools")
        characters = longest + sum(_characters(params.get(key)) for key in others)
    input_tokens = estimated_tokens(characters)
    wanted, most = params.get("input_tokens"), params.get("max_tokens")
    return (
        max(input_tokens, wanted) if isinstance(wanted, int) else input_tokens,
        most if isinstance(most, int) else 0,
    )


def _characters(value: object) -> int:
    """Return how many characters of text a parameter holds, however it is nested."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(_characters(item) for item in value)
    return 0
