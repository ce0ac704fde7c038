"""JSON out of bytes that anybody may have sent."""

import json


def parsed(data: bytes) -> object:
    """Return the parsed value, or None for anything that is not JSON (or nested past all reason)."""
    try:
        value: object = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return value


def dicts(value: object) -> list[dict[str, object]]:
    """Return the objects of a list, or none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


MOST_TOKENS = 1_000_000_000
"""No request has more tokens.  A counter never forgets, so one absurd number would spoil it for ever."""


def count(value: object) -> int | None:
    """Return a whole number of at least 0 and at most a billion, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def seconds(value: object, unit_s: float) -> float | None:
    """Return a duration in seconds from a number in ``unit_s`` seconds, or None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9:
        return value * unit_s
    return None
