"""Which of our two formats a scraper gets.

The library's own choice answers any version and escaping the client names with exactly those words in the
content type, and raises for a version that is no number.  Our names need no escaping, so there are two
answers, whatever was asked for.  Source of the weights: RFC 9110, 12.4.2.
"""

import math

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
_OLDEST_OPENMETRICS = 1.0


def prefers_openmetrics(accept: str) -> bool:
    """Tell whether a client takes OpenMetrics 1.0.0, and likes the text format no better."""
    openmetrics, text = 0.0, 0.0
    for item in accept.lower().split(","):
        media, *rest = (part.strip() for part in item.split(";"))
        parameters = dict(part.split("=", 1) for part in rest if "=" in part)
        weight = _number(parameters.get("q", "1"))
        if media == "application/openmetrics-text":
            version = _number(".".join(parameters.get("version", "1").strip('"').split(".")[:2]))
            openmetrics = max(openmetrics, weight if version >= _OLDEST_OPENMETRICS else 0.0)
        elif media == "text/plain":
            text = max(text, weight)
    return openmetrics > 0 and openmetrics >= text


def _number(word: str) -> float:
    """Return a finite number, or 0 for any other word."""
    try:
        number = float(word)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0
