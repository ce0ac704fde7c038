"""What a result says of the server: limits, timings, connection, money."""

from collections.abc import Iterable, Iterator

from exporter.metrics.catalogue import server
from exporter.metrics.family import Sample
from exporter.model.budget import NOTHING, Spend, spent_on
from exporter.model.outcome import Outcome
from exporter.model.rate_limits import RateLimit
from exporter.model.results import ProbeResult
from exporter.model.target import Budget, Identity, ProbeSpec, Target

_Who = tuple[str, str, str]
_IP = {"ipv4": 4.0, "ipv6": 6.0}


def initial(target: Target, spec: ProbeSpec) -> Iterator[Sample]:
    """Yield how the counters of a configured probe stand before its first result."""
    who = Identity(target.name, target.model, spec.name).labels
    yield Sample(server.MODEL_CHANGES, who, None)
    if target.prices is not None:
        yield Sample(server.COST, (*who, target.prices.currency), None)


def of(result: ProbeResult) -> Iterator[Sample]:
    """Yield what one result changes.

    A gauge speaks of the last response: what that did not say is taken away.  Without any response, as when
    nobody answers, the gauges stay.
    """
    who = result.identity.labels
    yield from cost_of(result)
    if result.connection.family is not None:
        yield Sample(server.IP_VERSION, who, _IP.get(result.connection.family))
    if result.status is None:
        return
    yield Sample(server.HTTP_VERSION, who, _number(result.connection.http_version))
    yield Sample(server.RETRY_AFTER, who, result.rate_limits.retry_after_s)
    for kind in server.LIMIT_KINDS:
        yield from _limit((*who, kind), getattr(result.rate_limits, kind))
    if result.outcome is Outcome.OK:
        for phase in server.SERVER_PHASES:
            yield Sample(server.SERVER_REPORTED, (*who, phase), getattr(result.server, f"{phase}_s"))


def cost_of(result: ProbeResult) -> Iterator[Sample]:
    """Yield what a result cost, where prices and counts are known."""
    prices = result.target.prices
    money = spent_on(result.tokens, prices).money
    if prices is not None and money:
        yield Sample(server.COST, (*result.identity.labels, prices.currency), money)


def budget(target: Target, budget: Budget, spent: Spend) -> Iterator[Sample]:
    """Yield how a target's budget stands."""
    for kind, limit, used in (
        ("tokens", budget.tokens_per_day, spent.tokens),
        ("money", budget.money_per_day, spent.money),
    ):
        if limit is not None:
            yield Sample(server.BUDGET, (target.name, target.model, kind), limit)
            yield Sample(server.BUDGET_SPENT, (target.name, target.model, kind), used)


def departed_budgets(old: Iterable[Target], new: Iterable[Target]) -> Iterator[Sample]:
    """Yield what takes away the gauges of budgets that a reload leaves behind."""
    kept = {labels for target in new for labels in _budgeted(target)}
    for target in old:
        for labels in _budgeted(target):
            if labels not in kept:
                yield Sample(server.BUDGET, labels, None)
                yield Sample(server.BUDGET_SPENT, labels, None)


def _budgeted(target: Target) -> Iterator[tuple[str, ...]]:
    if target.budget is not None:
        for sample in budget(target, target.budget, NOTHING):
            if sample.family is server.BUDGET:
                yield sample.labels


def _limit(labels: tuple[str, ...], limit: RateLimit) -> Iterator[Sample]:
    yield Sample(server.RATE_LIMIT, labels, limit.limit)
    yield Sample(server.RATE_REMAINING, labels, limit.remaining)
    yield Sample(server.RATE_RESET, labels, limit.reset_s)


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
