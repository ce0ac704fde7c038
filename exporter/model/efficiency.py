"""Energy against work: joules per token and its relatives."""

from dataclasses import dataclass

JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """Work done with so much energy in so much time; a ratio without a divisor is None."""

    joules: float
    seconds: float
    tokens: float
    """Output tokens."""
    requests: float

    @property
    def joules_per_token(self) -> float | None:
        """Joules / output tokens."""
        return self.joules / self.tokens if self.tokens > 0 else None

    @property
    def tokens_per_joule(self) -> float | None:
        """Output tokens / joules, which is tokens per second per watt."""
        return self.tokens / self.joules if self.joules > 0 else None

    @property
    def requests_per_watt(self) -> float | None:
        """Requests per second / mean watts, which is requests per joule."""
        return self.requests / self.joules if self.joules > 0 else None

    def cost_per_million_tokens(self, per_kwh: float) -> float | None:
        """Return the price of the electricity for a million output tokens, in the currency of ``per_kwh``."""
        each = self.joules_per_token
        return None if each is None else each * 1e6 / JOULES_PER_KWH * per_kwh
