"""What a server says of itself on its way to the metrics, and which model answered."""

import pytest

from exporter.metrics.catalogue import server
from exporter.metrics.model_ledger import ModelLedger
from exporter.metrics.server_samples import budget, cost_of, initial, of
from exporter.model.budget import Spend, allows, day_of, spent_on
from exporter.model.clocks import Tokens
from exporter.model.outcome import Outcome
from exporter.model.rate_limits import RateLimit, RateLimits
from exporter.model.results import ConnectionFacts
from exporter.model.server_timing import ServerTiming
from exporter.model.target import Budget, Prices
from tests.metrics.builders import probe, result, target, values

EUR = Prices(input_per_mtok=1.0, output_per_mtok=3.0, currency="EUR")


def test_a_response_sets_what_it_says_and_takes_away_what_it_does_not() -> None:
    said = list(
        of(
            result(
                status=200,
                connection=ConnectionFacts(family="ipv6", http_version="1.1"),
                rate_limits=RateLimits(tokens=RateLimit(limit=9, remaining=4)),
                server=ServerTiming(queue_s=0.25),
            )
        )
    )
    assert values(said, server.HTTP_VERSION) == {(): 1.1}
    assert values(said, server.IP_VERSION) == {(): 6.0}
    assert values(said, server.RATE_REMAINING) == {("requests",): None, ("tokens",): 4}
    assert values(said, server.RETRY_AFTER) == {(): None}
    assert values(said, server.SERVER_REPORTED)[("queue",)] == 0.25
    assert values(said, server.SERVER_REPORTED)[("total",)] is None


def test_without_a_response_nothing_is_said() -> None:
    assert list(of(result(Outcome.DNS))) == []


def test_a_refusal_keeps_the_timings_and_shows_the_limits() -> None:
    said = list(of(result(Outcome.RATE_LIMITED, status=429, rate_limits=RateLimits(retry_after_s=7))))
    assert values(said, server.RETRY_AFTER) == {(): 7}
    assert values(said, server.SERVER_REPORTED) == {}


def test_money_is_counted_where_tokens_and_prices_are_known() -> None:
    spent = Tokens(input=1000, output=500)
    (sample,) = cost_of(result(Outcome.TIMEOUT_TOTAL, target=target(prices=EUR), tokens=spent))
    assert (sample.labels[3], sample.value) == ("EUR", pytest.approx(0.0025))
    assert list(cost_of(result(tokens=spent))) == []
    assert list(cost_of(result(target=target(prices=EUR)))) == []
    assert server.COST in {sample.family for sample in initial(target(prices=EUR), probe())}
    assert server.COST not in {sample.family for sample in initial(target(), probe())}


def test_a_model_that_changes_is_counted_and_its_name_is_no_label() -> None:
    ledger = ModelLedger()
    changes = [
        values(list(ledger.record(result(answered_by=model))), server.MODEL_CHANGES)
        for model in (7, 7, None, 8, 8, 7)
    ]
    assert changes == [{}, {}, {}, {(): 1}, {}, {(): 1}]
    assert list(ledger.record(result(Outcome.EMPTY, answered_by=9))) == []
    ledger.forget({"target": "prod"})
    assert values(list(ledger.record(result(answered_by=8))), server.MODEL_CHANGES) == {}


def test_a_budget_shows_its_limits_and_what_is_spent() -> None:
    said = list(budget(target(), Budget(tokens_per_day=100), Spend(40, 0.5)))
    assert [(sample.labels[2], sample.value) for sample in said] == [("tokens", 100), ("tokens", 40)]


ALLOWED = [
    ("within", Budget(tokens_per_day=100), Spend(90), Spend(10), True),
    ("a token over", Budget(tokens_per_day=100), Spend(91), Spend(10), False),
    ("money within", Budget(money_per_day=1.0), Spend(10**9, 0.5), Spend(1, 0.5), True),
    ("money over", Budget(money_per_day=1.0), Spend(0, 0.75), Spend(1, 0.5), False),
    ("both bounds hold", Budget(tokens_per_day=5, money_per_day=9.0), Spend(0), Spend(6, 0.1), False),
]


@pytest.mark.parametrize(("_", "bound", "spent", "one", "allowed"), ALLOWED, ids=[row[0] for row in ALLOWED])
def test_what_a_budget_allows(_: str, bound: Budget, spent: Spend, one: Spend, *, allowed: bool) -> None:
    assert allows(bound, spent, one) is allowed


def test_days_are_those_of_utc() -> None:
    assert (day_of(86_399.9), day_of(86_400.0)) == ("1970-01-01", "1970-01-02")
    assert spent_on(Tokens(), EUR) == Spend(0, 0.0)
