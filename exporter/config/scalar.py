"""What an unquoted YAML word means: the core schema of YAML 1.2, so that ``no`` and ``12:30`` stay text."""

import math
import re

Scalar = str | int | float | bool | None

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,3})?")


def resolve(word: str) -> Scalar:
    """Return the value of a plain scalar.  Infinities, NaN and numbers out of range stay text."""
    if word in _NULL:
        return None
    if word in _BOOL:
        return _BOOL[word]
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word) and math.isfinite(number := float(word)):
        return number
    return word
