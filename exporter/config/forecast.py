"""What a configuration will send and cost in a day, before it has sent anything."""

import math
from dataclasses import dataclass

from pydantic import BaseModel

from exporter.model.configuration import Configuration
from exporter.model.target import Prices, ProbeSpec, Target

DAY_S = 86400.0
CHARACTERS_PER_TOKEN = 4
"""Usual for English text; only the server's tokenizer knows."""
TEMPLATE_TOKENS = 10
"""What a chat template adds around a short prompt, roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One probe's day.  Tokens and money are None where the parameters or the prices do not say."""

    target: Target
    spec: ProbeSpec
    requests: float
    input_tokens: float
    """An estimate, from the characters of the prompt."""
    output_tokens: float | None
    """An upper bound: every answer as long as it may get."""
    cost: float | None
    """In the currency of the target's prices."""


def forecast(configuration: Configuration) -> tuple[Forecast, ...]:
    """Return one forecast a probe, in the order of the file."""
    return tuple(_forecast(plan.target, spec) for plan in configuration.targets for spec in plan.probes)


def _forecast(target: Target, spec: ProbeSpec) -> Forecast:
    params = spec.params.model_dump() if isinstance(spec.params, BaseModel) else {}
    requests = DAY_S / spec.every_s
    characters = _characters(params.get("messages")) or sum(
        _characters(params.get(key)) for key in ("system", "prompt", "input")
    )
    input_tokens = requests * (math.ceil(characters / CHARACTERS_PER_TOKEN) + TEMPLATE_TOKENS)
    most = params.get("max_tokens")
    output_tokens = requests * most if isinstance(most, int) else None
    return Forecast(
        target=target,
        spec=spec,
        requests=requests,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=_cost(target.prices, input_tokens, output_tokens),
    )


def _cost(prices: Prices | None, input_tokens: float, output_tokens: float | None) -> float | None:
    if prices is None or output_tokens is None:
        return None
    return (input_tokens * prices.input_per_mtok + output_tokens * prices.output_per_mtok) / 1e6


def _characters(value: object) -> int:
    """Return how many characters of text a parameter holds, however it is nested."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(_characters(item) for item in value)
    return 0
