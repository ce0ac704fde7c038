"""When a crontab line comes up, found by looking every so often."""

from collections.abc import Callable
from datetime import UTC, datetime

from apscheduler.triggers.cron import CronTrigger

LOOK_EVERY_S = 30.0


class CronGate:
    """Tells, each time it is asked, whether the line came up since it was asked last; in UTC."""

    def __init__(self, line: str, unix_s: Callable[[], float]) -> None:
        self._trigger = CronTrigger.from_crontab(line, timezone=UTC)
        self._unix_s = unix_s
        self._asked_unix_s = unix_s()

    def is_due(self) -> bool:
        """Ask."""
        now_s = self._unix_s()
        after = datetime.fromtimestamp(self._asked_unix_s, UTC)
        found = self._trigger.get_next_fire_time(None, after)
        is_due = found is not None and self._asked_unix_s < found.timestamp() <= now_s
        self._asked_unix_s = now_s
        return is_due

    def skip(self) -> None:
        """Forget what came up until now: a run took that long."""
        self._asked_unix_s = self._unix_s()
