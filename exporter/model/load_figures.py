"""From a tally to the figures that people read."""

import math
from dataclasses import dataclass

from exporter.model.load_histogram import Distribution
from exporter.model.load_plan import LoadPlan
from exporter.model.load_result import LoadRun, Pricing, Step, Tally

PERCENTILES: tuple[tuple[str, float], ...] = (
    *(("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)),
    ("max", 1.0),
)
CLOCKS = ("ttft", "tpot", "itl", "e2e", "ttft_scheduled", "e2e_scheduled")
_PER_REQUEST = frozenset({"ttft", "tpot", "e2e", "ttft_scheduled", "e2e_scheduled"})
_YEAR_S = 365.25 * 86400
_JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One clock's figures in seconds; None where there is no value at all."""

    n: int
    mean_s: float | None
    success_only: dict[str, float | None]
    with_failures: dict[str, float | None]
    """Each failed request counts as infinitely late; ``inf`` where the rank is a failure's.  For gaps, which
    a failed request does not have a number of, the same as success only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one step comes to; rates are a second of wall time, None where nothing was measured."""

    n: int
    success_ratio: float | None
    qps: float | None
    """Requests that ended, a second."""
    success_qps: float | None
    goodput_qps: float | None
    """Requests that kept every objective, a second."""
    goodput_ratio: float | None
    """Of the requests sent."""
    achieved_concurrency: float | None
    input_tokens_per_s: float | None
    output_tokens_per_s: float | None
    cpu_cores: float | None
    """Of the workers."""
    invalid_ratio: float | None
    clocks: dict[str, Spread]


def figures_of(tally: Tally) -> Figures:
    """Return the figures of one tally."""
    wall_s = tally.wall_s

    def rate(count: float) -> float | None:
        return count / wall_s if wall_s > 0 else None

    return Figures(
        n=tally.ended,
        success_ratio=tally.succeeded / tally.ended if tally.ended else None,
        qps=rate(tally.ended),
        success_qps=rate(tally.succeeded),
        goodput_qps=rate(tally.good),
        goodput_ratio=tally.good / tally.sent if tally.sent else None,
        achieved_concurrency=tally.in_flight_s / tally.sending_s if tally.sending_s > 0 else None,
        input_tokens_per_s=rate(tally.input_tokens),
        output_tokens_per_s=rate(tally.output_tokens),
        cpu_cores=rate(tally.cpu_s),
        invalid_ratio=tally.invalid / tally.values if tally.values else None,
        clocks={name: spread_of(name, getattr(tally, name), tally.failed) for name in CLOCKS},
    )


def spread_of(name: str, values: Distribution, failed: int) -> Spread:
    """Return one clock's figures; ``failed`` requests count as infinitely late."""
    late = failed if name in _PER_REQUEST and values.n else 0
    return Spread(
        n=values.n,
        mean_s=values.mean_s,
        success_only={label: values.percentile_s(ratio) for label, ratio in PERCENTILES},
        with_failures={label: values.percentile_s(ratio, late) for label, ratio in PERCENTILES},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Money and energy of one step; None where the prices, the hardware or the power are not known."""

    token_price: float | None
    """Of the step's tokens, by price list."""
    owned: float | None
    """Of the step's wall time, by purchase price over its years and electricity."""
    per_million_tokens: float | None
    """Output and input together: owned where known, else by price list."""
    per_million_good_requests: float | None
    good_requests_per_money: float | None
    """Value for money: good requests for one unit of currency."""
    joules_per_request: float | None
    tokens_per_joule: float | None
    requests_per_watt: float | None
    """Successful requests a second for each watt."""


def cost_of(step: Step, pricing: Pricing) -> Cost:
    """Return what one step cost."""
    tally = step.tally
    joules = step.joules
    if joules is None and pricing.watts is not None:
        joules = pricing.watts * tally.wall_s
    by_price = price_of_tokens(pricing, tally.input_tokens, tally.output_tokens)
    owned = _owned(pricing, tally.wall_s, joules)
    money = by_price if owned is None else owned
    tokens = tally.input_tokens + tally.output_tokens
    return Cost(
        token_price=by_price,
        owned=owned,
        per_million_tokens=_ratio(money, tokens, 1e6),
        per_million_good_requests=_ratio(money, tally.good, 1e6),
        good_requests_per_money=_ratio(float(tally.good), money or 0.0),
        joules_per_request=_ratio(joules, tally.succeeded),
        tokens_per_joule=_ratio(float(tally.output_tokens), joules or 0.0),
        requests_per_watt=_ratio(float(tally.succeeded), joules or 0.0),
    )


def price_of_tokens(pricing: Pricing, input_tokens: int, output_tokens: int) -> float | None:
    """Return the price of tokens by price list; None without one."""
    if pricing.input_per_mtok is None or pricing.output_per_mtok is None:
        return None
    return (input_tokens * pricing.input_per_mtok + output_tokens * pricing.output_per_mtok) / 1e6


def _owned(pricing: Pricing, wall_s: float, joules: float | None) -> float | None:
    if pricing.capex is None or not pricing.amortise_years:
        return None
    electricity = 0.0
    if pricing.power_price_kwh is not None:
        if joules is None:
            return None
        electricity = joules * pricing.pue / _JOULES_PER_KWH * pricing.power_price_kwh
    return pricing.capex * wall_s / (pricing.amortise_years * _YEAR_S) + electricity


def _ratio(above: float | None, below: float, scale: float = 1.0) -> float | None:
    return None if above is None or below <= 0 or not math.isfinite(above) else above / below * scale


def level_name(plan: LoadPlan, level: float) -> str:
    """Return a level in words."""
    if plan.mode.is_open:
        return f"{level:g} requests/s"
    return "1 client" if level == 1 else f"{level:g} clients"


def is_complete(run: LoadRun) -> bool:
    """Tell whether everything that was planned was done."""
    return not run.stopped and not any(step.stopped for step in run.steps)
