"""Keys of a load test in the configuration file, and of what the serving machine costs."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from exporter.config import units
from exporter.config.crontab import crontab
from exporter.config.section import Name, Section
from exporter.model.load_plan import MOST_CONCURRENCY, MOST_RATE, MOST_REQUESTS, MOST_SECONDS, MOST_TOKENS

MIN_EVERY_S, MAX_EVERY_S = 60.0, 7 * 86400.0


def _every(value: object) -> float:
    every_s = units.seconds(value)
    if not MIN_EVERY_S <= every_s <= MAX_EVERY_S:
        raise ValueError("must be 1m to 7d")
    return every_s


def _span(value: object) -> float:
    span_s = units.seconds(value)
    if not 0 <= span_s <= MOST_SECONDS:
        raise ValueError("must be at most 6h")
    return span_s


Span = Annotated[float, BeforeValidator(_span)]
Clients = Annotated[int, Field(ge=1, le=MOST_CONCURRENCY)]
Rate = Annotated[float, Field(gt=0, le=MOST_RATE)]
Money = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class Good(Section):
    """What a good request keeps; goodput counts those."""

    ttft: Span | None = Field(default=None, description="Longest time to first token.")
    itl: Span | None = Field(default=None, description="Longest gap between two token-bearing chunks.")
    tpot: Span | None = Field(default=None, description="Longest mean time per output token.")
    e2e: Span | None = Field(default=None, description="Longest time from request to end of answer.")


class Load(Section):
    """A load test."""

    name: Name = Field(description="Label `scenario`; unique in the target.")
    cron: Annotated[str, AfterValidator(crontab)] | None = Field(
        default=None,
        description="When to run, as in crontab and in UTC; on command only without cron or every.",
    )
    every: Annotated[float, BeforeValidator(_every)] | None = Field(
        default=None, description="Time from one run to the next, 1m to 7d."
    )
    confirm: bool = Field(
        default=False, description="true allows scheduled runs: load disturbs whoever else uses the target."
    )
    api: Literal["chat", "completions", "embeddings"] = Field(
        default="chat", description="What is asked for."
    )
    mode: Literal["closed", "poisson", "constant"] = Field(
        default="closed", description="closed: clients that wait for answers; else arrivals that do not."
    )
    concurrency: Annotated[list[Clients], Field(min_length=1, max_length=32)] | None = Field(
        default=None, description="Clients of each step of a closed loop."
    )
    rate: Annotated[list[Rate], Field(min_length=1, max_length=32)] | None = Field(
        default=None, description="Requests a second of each step of an open loop."
    )
    repeats: Annotated[int, Field(ge=1, le=50)] = Field(default=1, description="How often the steps are run.")
    knee: bool = Field(
        default=False, description="true searches for the largest load between the lowest and highest step."
    )
    requests_per_step: Annotated[int, Field(ge=1, le=MOST_REQUESTS)] = Field(
        default=100, description="Requests of a step."
    )
    seconds_per_step: Span = Field(default=60.0, description="Longest time that a step sends.")
    settle: Span = Field(default=0.0, description="Time at the start of a step that is not counted.")
    timeout: Span = Field(default=30.0, description="Total deadline of a request.")
    prompt: Annotated[str, Field(min_length=1)] = Field(
        default="Count from 1 to 40.", description="What is asked, or the input of embeddings."
    )
    max_tokens: Annotated[int, Field(ge=1, le=32768)] = Field(
        default=64, description="Longest answer of a request, in tokens."
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        default=0.0, description="Temperature; null leaves it out."
    )
    stream: bool = Field(default=True, description="false asks for whole answers.")
    good: Good = Field(default=Good(), description="What a good request keeps.")
    workers: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="Processes that make the load."
    )
    max_seconds: Span = Field(default=600.0, description="Longest run; no flag goes beyond.")
    max_requests: Annotated[int, Field(ge=1, le=MOST_REQUESTS)] = Field(
        default=10000, description="Most requests of a run; no flag goes beyond."
    )
    max_tokens_total: Annotated[int, Field(ge=1, le=MOST_TOKENS)] = Field(
        default=2000000, description="Most tokens of a run, input and output; no flag goes beyond."
    )
    max_money: Money | None = Field(
        default=None, description="Most money of a run, by the target's prices; no flag goes beyond."
    )
    max_concurrency: Clients = Field(default=256, description="Most requests in flight; no flag goes beyond.")
    max_rate: Rate = Field(default=1000.0, description="Highest rate; no flag goes beyond.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.cron is not None and self.every is not None:
            raise ValueError("cron and every are both given; remove one of the two")
        if (self.cron is not None or self.every is not None) and not self.confirm:
            raise ValueError(
                "a scheduled load test needs confirm: true; it disturbs whoever else uses the target"
            )
        if self.mode == "closed" and (self.rate is not None or self.concurrency is None):
            raise ValueError("mode closed takes concurrency, such as [1, 2, 4], and no rate")
        if self.mode != "closed" and (self.concurrency is not None or self.rate is None):
            raise ValueError(f"mode {self.mode} takes rate, such as [1, 5, 10], and no concurrency")
        if max(self.concurrency or [0]) > self.max_concurrency or max(self.rate or [0]) > self.max_rate:
            raise ValueError("a step is above max_concurrency or max_rate; raise that or lower the step")
        if self.knee and not self.good.model_fields_set:
            raise ValueError("knee needs good, such as {ttft: 500ms}: it is the largest load that keeps it")
        if self.max_seconds <= 0 or self.seconds_per_step <= 0 or self.timeout <= 0:
            raise ValueError("max_seconds, seconds_per_step and timeout must be above 0s")
        return self


class Cost(Section):
    """What the machine behind the target costs its owner; goes before token prices in value for money."""

    capex: Money = Field(description="Purchase price, in the currency of the prices.")
    amortise_years: Annotated[float, Field(gt=0, le=50)] = Field(
        default=3.0, description="Years over which it is written off."
    )
    pue: Annotated[float, Field(ge=1, le=10)] = Field(
        default=1.2, description="Power usage effectiveness of the site, at least 1."
    )
