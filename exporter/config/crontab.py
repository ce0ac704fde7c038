"""Crontab lines, checked without the scheduler that will read them."""

import re

_RANGES = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12))
_PART = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
_WEEKDAYS = re.compile(r"\*|(?:mon|tue|wed|thu|fri|sat|sun)(?:[,-](?:mon|tue|wed|thu|fri|sat|sun))*")


def crontab(text: str) -> str:
    """Return a line of five fields: minute, hour, day, month, weekday.  Raises ValueError.

    Weekdays are names, because the numbers mean different days to different programs.
    """
    fields = text.split()
    if len(fields) != 5:
        raise ValueError(
            'must be five fields as in crontab, such as "0 3 * * *" (minute hour day month weekday)'
        )
    for field, (name, low, high) in zip(fields, _RANGES, strict=False):
        if not all(_fits(part, low, high) for part in field.split(",")):
            raise ValueError(f"the {name} {field} is none; write *, */n, or numbers from {low} to {high}")
    if not _WEEKDAYS.fullmatch(fields[4].lower()):
        raise ValueError(f"the weekday {fields[4]} is none; write * or names such as mon-fri or sat,sun")
    return " ".join(fields)


def _fits(part: str, low: int, high: int) -> bool:
    match = _PART.fullmatch(part)
    if match is None or (match[3] is not None and int(match[3]) == 0):
        return False
    numbers = [int(number) for number in (match[1], match[2]) if number is not None]
    return all(low <= number <= high for number in numbers) and numbers == sorted(numbers)
