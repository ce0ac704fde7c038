"""From the checked keys of a load test to its plan."""

from exporter.config import schema, schema_load
from exporter.model.clocks import Clock
from exporter.model.configuration import LoadSpec
from exporter.model.load_plan import Api, Bounds, LoadPlan, Mode, Prompt, Within
from exporter.model.load_result import Pricing
from exporter.model.power_plan import Electricity


def load_spec(load: schema_load.Load) -> LoadSpec:
    """Return the load test."""
    thresholds = {
        Clock.TTFT: load.good.ttft,
        Clock.ITL: load.good.itl,
        Clock.TPOT: load.good.tpot,
        Clock.E2E: load.good.e2e,
    }
    plan = LoadPlan(
        scenario=load.name,
        api=Api(load.api),
        stream=load.stream and load.api != "embeddings",
        mode=Mode(load.mode),
        levels=tuple(map(float, load.concurrency or load.rate or ())),
        repeats=load.repeats,
        requests_per_step=load.requests_per_step,
        seconds_per_step=load.seconds_per_step,
        settle_s=load.settle,
        prompts=(Prompt(text=load.prompt, max_tokens=load.max_tokens),),
        temperature=load.temperature,
        timeout_s=load.timeout,
        good=tuple(Within(clock, limit_s) for clock, limit_s in thresholds.items() if limit_s is not None),
        find_knee=load.knee,
        workers=load.workers,
        bounds=Bounds(
            requests=load.max_requests,
            seconds=load.max_seconds,
            tokens=load.max_tokens_total,
            money=load.max_money,
            concurrency=load.max_concurrency,
            rate=load.max_rate,
        ),
    )
    return LoadSpec(plan=plan, cron=load.cron, every_s=load.every)


def pricing(target: schema.Target, electricity: Electricity | None) -> Pricing:
    """Return what tokens and the machine cost; electricity counts in the currency of the prices only."""
    prices, cost = target.prices, target.cost
    currency = prices.currency if prices else electricity.currency if electricity else "USD"
    pays = electricity is not None and electricity.currency == currency
    return Pricing(
        input_per_mtok=prices.input_per_mtok if prices else None,
        output_per_mtok=prices.output_per_mtok if prices else None,
        currency=currency,
        capex=cost.capex if cost else None,
        amortise_years=cost.amortise_years if cost else None,
        power_price_kwh=electricity.per_kwh if electricity is not None and pays else None,
        pue=cost.pue if cost else 1.0,
        watts=target.power.watts if target.power else None,
    )
