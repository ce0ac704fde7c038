"""Durations and shares as people write them: ``15s``, ``500ms``, ``99.5%``."""

import re

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_HOURS = re.compile(r"([0-9]{1,2}):([0-5][0-9])\s*-\s*([0-9]{1,2}):([0-5][0-9])")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)\s*%")


def seconds(value: object) -> float:
    """Return a duration in seconds.  Raises ValueError that says how to write one."""
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            raise ValueError(f"a duration needs a unit; write {value:g}s or {value:g}ms")
        raise ValueError(
            "must be a duration: one number and a unit (ms, s, m, h, d), such as 15s, 500ms or 1.5s"
        )
    # Rounded to the nanosecond, so that 500ms is 0.5 and 1.1s is not 1.1000000000000003.
    return round(float(match[1]) * _SECONDS[match[2]], 9)


def duration(seconds_: float) -> str:
    """Return a duration as the configuration writes it, in the largest unit that keeps it exact."""
    for unit in ("d", "h", "m", "s"):
        amount = seconds_ / _SECONDS[unit]
        if amount >= 1 and (unit == "s" or amount == int(amount)):
            return f"{amount:.9g}{unit}"
    return f"{seconds_ / _SECONDS['ms']:.9g}ms"


def hours(text: str) -> tuple[int, int]:
    """Return the first and the last minute of a span of hours such as ``22:00-06:30``; 24:00 is 1440.

    Raises ValueError that says how to write one.
    """
    match = _HOURS.fullmatch(text.strip())
    minutes = [int(h) * 60 + int(m) for h, m in (match.group(1, 2), match.group(3, 4))] if match else []
    if len(minutes) != 2 or max(minutes) > 24 * 60 or minutes[0] == minutes[1]:
        raise ValueError("must be a span of hours of the day, such as 08:00-18:00 or 22:00-06:30")
    return minutes[0], minutes[1]


def hours_text(text: str) -> str:
    """Return the text of a span of hours.  Raises ValueError as ``hours``."""
    hours(text)
    return text


def share(value: object) -> float:
    """Return a ratio strictly between 0 and 1.  Raises ValueError that says how to write one."""
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value.strip())):
        ratio = round(float(match[1]) / 100, 12)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if 1 < value < 100:
            raise ValueError(f"{value:g} is not a ratio; write {value:g}% or {value / 100:g}")
        ratio = float(value)
    else:
        raise ValueError("must be a percentage or a ratio, such as 99.5% or 0.995")
    if not 0 < ratio < 1:
        raise ValueError(
            "must be above 0% and below 100%; a promise of 100% leaves no room for error, write 99.9%"
        )
    return ratio
