"""When to look closer after a breach, and when to stop."""

from collections import deque
from dataclasses import dataclass, field

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """Confirmation probes: one ``every_s`` until ``for_s`` after the last breach, at most ``per_hour``."""

    every_s: float
    for_s: float
    per_hour: int


@dataclass(slots=True)
class Confirmation:
    """Whether one probe is being confirmed; all times are seconds of a monotonic clock."""

    confirm: Confirm
    _until_s: float = float("-inf")
    _sent_s: deque[float] = field(default_factory=deque)

    def breached(self, now_s: float) -> None:
        """Take note of a breach, by a scheduled request or a confirming one."""
        self._until_s = now_s + self.confirm.for_s

    def take(self, now_s: float) -> bool:
        """Tell whether a confirming request is to be sent now, and if so count it against the hour."""
        while self._sent_s and self._sent_s[0] <= now_s - HOUR_S:
            self._sent_s.popleft()
        if now_s > self._until_s or len(self._sent_s) >= self.confirm.per_hour:
            return False
        self._sent_s.append(now_s)
        return True
