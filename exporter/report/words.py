"""How figures are written: one place, so that the terminal, Markdown and HTML say the same."""

import math


def milliseconds(value_s: float | None) -> str:
    """Return seconds as milliseconds with three significant digits; ``-`` for None."""
    if value_s is None:
        return "-"
    return "inf" if math.isinf(value_s) else significant(value_s * 1e3)


def significant(value: float | None) -> str:
    """Return a number with three significant digits and no exponent; ``-`` for None."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "inf"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}"


def percent(ratio: float | None) -> str:
    """Return a ratio as a percentage; ``-`` for None."""
    return "-" if ratio is None else f"{ratio * 100:.4g} %"


def money(value: float | None, currency: str) -> str:
    """Return an amount with its currency; ``-`` for None."""
    return "-" if value is None else f"{significant(value)} {currency}"
