"""Typed reading of a request's JSON object; every refusal names the field."""

import json
from collections.abc import Mapping
from typing import Any

from exporter.demo.errors import invalid

Body = Mapping[str, Any]


def parse(raw: bytes) -> Body:
    """Return the JSON object of a request body.  Raises ApiError 400 if it is none."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise invalid(None, "We could not parse the JSON body of your request.") from None
    if not isinstance(body, dict):
        raise invalid(None, f"The request body must be a JSON object, not {_name(body)}.")
    return body


def text(body: Body, field: str) -> str:
    """Return a string that has to be there."""
    value = body.get(field)
    if not isinstance(value, str):
        raise _wrong_type(field, "a string", value)
    return value


def flag(body: Body, field: str) -> bool:
    """Return a boolean; absent and null are false."""
    value = body.get(field)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise _wrong_type(field, "a boolean", value)
    return value


def number(body: Body, field: str, *, low: float, high: float, default: float) -> float:
    """Return a number in [low, high]; absent and null give the default."""
    value = body.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(field, "a number", value)
    if not low <= value <= high:
        raise invalid(field, f"Invalid '{field}': {value} is not between {low:g} and {high:g}.")
    return float(value)


def integer(body: Body, field: str, *, low: int, high: int | None = None) -> int | None:
    """Return an integer of at least ``low`` and at most ``high``; absent and null give None."""
    value = body.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type(field, "an integer", value)
    if value < low:
        raise invalid(field, f"Invalid '{field}': {value} is below the minimum of {low}.")
    if high is not None and value > high:
        raise invalid(field, f"Invalid '{field}': {value} is above the maximum of {high}.")
    return value


def table(body: Body, field: str) -> Body:
    """Return a nested object; absent and null are empty."""
    value = body.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong_type(field, "an object", value)
    return value


def stops(body: Body) -> tuple[str, ...]:
    """Return the stop strings: none, one, or a list of at most four; none of them empty."""
    value = body.get("stop")
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        raise invalid("stop", "Invalid 'stop': expected a non-empty string or a list of them.")
    if len(listed) > 4:
        raise invalid("stop", f"Invalid 'stop': at most 4 strings, not {len(listed)}.")
    return tuple(listed)


def refuse_unsupported(body: Body, supported: Mapping[str, Any]) -> None:
    """Raise ApiError 400 for a field that asks for more than the one value that is supported."""
    for field, only in supported.items():
        value = body.get(field)
        if value is not None and value != only:
            raise invalid(
                field,
                f"'{field}' is not supported by this server; leave it out or set it to {json.dumps(only)}.",
                "unsupported_parameter",
            )


def _wrong_type(field: str, expected: str, value: object) -> Exception:
    if value is None:
        return invalid(field, f"Missing required parameter: '{field}'.", "missing_required_parameter")
    return invalid(
        field, f"Invalid type for '{field}': expected {expected}, got {_name(value)}.", "invalid_type"
    )


def _name(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
