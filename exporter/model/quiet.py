"""Hours in which nothing is to be benched."""

from dataclasses import dataclass

DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one minute of the day to another, 0 to 1440, in local time; over midnight where it ends
    earlier."""

    start: int
    end: int

    def covers(self, minute: int) -> bool:
        """Tell whether a minute of the day (0 to 1439) lies within; the end does not."""
        if self.start <= self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end
