"""Stops a run whose target does not answer: by the share of errors, and by refusals in a row."""

from collections import deque

from exporter.model.load_plan import Breaker
from exporter.model.outcome import Outcome

REFUSALS = frozenset(
    {
        *(Outcome.DNS, Outcome.CONNECT, Outcome.TLS, Outcome.TIMEOUT_CONNECT),
        *(Outcome.RATE_LIMITED, Outcome.HTTP_5XX, Outcome.AUTH),
    }
)


class BreakerState:
    """Takes outcomes in the order in which they come; once open it stays open."""

    def __init__(self, limits: Breaker) -> None:
        self._limits = limits
        self._last: deque[bool] = deque(maxlen=limits.window)
        self._failed = 0
        self._in_a_row = 0
        self.why = ""
        """Why it is open, for people; empty while it is closed."""

    def note(self, outcome: Outcome) -> None:
        """Take one outcome."""
        failed = outcome.is_failure
        if len(self._last) == self._limits.window:
            self._failed -= self._last[0]
        self._last.append(failed)
        self._failed += failed
        self._in_a_row = self._in_a_row + 1 if outcome in REFUSALS else 0
        if self.why:
            return
        if self._in_a_row >= self._limits.consecutive:
            self.why = f"{self._in_a_row} refusals in a row, the last one {outcome}"
        elif len(self._last) == self._limits.window and self._failed > self._limits.error_ratio * len(
            self._last
        ):
            self.why = f"{self._failed} of the last {len(self._last)} requests failed, the last one {outcome}"
