"""What a reload leaves of budgets and of requests outside the schedule."""

from dataclasses import replace

from exporter.app.meter import Meter
from exporter.model.budget import Spend
from exporter.model.clocks import Tokens
from exporter.model.configuration import BenchPlan, Configuration, TargetPlan, WebOptions
from exporter.model.target import Budget, Prices
from tests.metrics.builders import plan, probe, result, target

PRICES = Prices(input_per_mtok=1.0, output_per_mtok=1.0, currency="USD")
RICH = target(prices=PRICES, budget=Budget(tokens_per_day=100, money_per_day=1.0))


def configured(*plans: TargetPlan) -> Configuration:
    return Configuration(targets=plans, benches=(), web=WebOptions(host="h", port=1))


def metered() -> Meter:
    meter = Meter(configured(TargetPlan(target=RICH, probes=(probe(),))), unix_s=lambda: 1.7e9)
    meter.budget_spent(RICH, Spend(7, 0.5))
    return meter


def shown(meter: Meter, name: str) -> list[str]:
    return [line for line in meter.render("").body.decode().splitlines() if line.startswith(f"{name}{{")]


def test_a_budget_that_is_gone_is_not_shown() -> None:
    meter = metered()
    assert len(shown(meter, "inference_budget_limit")) == 2
    fewer = target(prices=PRICES, budget=Budget(tokens_per_day=100))
    meter.reconfigured(configured(TargetPlan(target=fewer, probes=(probe(),))))
    for name in ("inference_budget_limit", "inference_budget_spent"):
        assert ['kind="tokens"' in line for line in shown(meter, name)] == [True]
    meter.reconfigured(configured(plan("other")))
    assert shown(meter, "inference_budget_limit") == shown(meter, "inference_budget_spent") == []


def test_what_ends_after_its_target_went_does_not_bring_it_back() -> None:
    meter = metered()
    late = result(target=RICH, tokens=Tokens(input=5, output=5))
    meter.spent_on_demand(late)
    assert shown(meter, "inference_cost_total")[0].endswith(" 1e-05")
    meter.reconfigured(configured(plan("other")))
    meter.budget_spent(RICH, Spend(9, 0.5))
    meter.spent_on_demand(late)
    assert shown(meter, "inference_budget_spent") == shown(meter, "inference_cost_total") == []


def test_a_bench_that_is_gone_leaves_no_numbers_behind() -> None:
    light = BenchPlan(suite="light", every_s=300, devices=("cpu",))
    hourly = BenchPlan(suite="hourly", every_s=3600, devices=("cpu",))
    meter = Meter(replace(configured(), benches=(light, hourly)), unix_s=lambda: 1.7e9)
    name = "inference_kernel_runs_total"
    of_hourly = {line for line in shown(meter, name) if 'suite="hourly"' in line}
    assert set(shown(meter, name)) > of_hourly
    meter.reconfigured(replace(configured(), benches=(hourly,)))
    assert set(shown(meter, name)) == of_hourly
    meter.reconfigured(configured())
    assert shown(meter, name) == []
