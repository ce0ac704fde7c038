"""What a target's probes have spent today, and whether one more may be sent."""

from dataclasses import dataclass
from datetime import UTC, datetime

from exporter.model.clocks import Tokens
from exporter.model.target import Budget, Prices


@dataclass(frozen=True, slots=True)
class Spend:
    """Tokens, input and output together, and money in the currency of the target's prices."""

    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(self.tokens + other.tokens, self.money + other.money)

    def __sub__(self, other: "Spend") -> "Spend":
        return Spend(self.tokens - other.tokens, self.money - other.money)


NOTHING = Spend()


def spent_on(tokens: Tokens, prices: Prices | None) -> Spend:
    """Return what a request spent, by the counts that there are."""
    into, out = tokens.input or 0, tokens.output or 0
    return Spend(into + out, 0.0 if prices is None else prices.of(into, out))


def allows(budget: Budget, spent: Spend, next_one: Spend) -> bool:
    """Tell whether a request that costs at most ``next_one`` keeps within the day's budget."""
    after = spent + next_one
    return (budget.tokens_per_day is None or after.tokens <= budget.tokens_per_day) and (
        budget.money_per_day is None or after.money <= budget.money_per_day
    )


def day_of(unix_s: float) -> str:
    """Return the day in UTC, such as ``2026-11-30``."""
    return datetime.fromtimestamp(unix_s, UTC).date().isoformat()
