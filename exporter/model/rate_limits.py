"""What a server's headers say of its rate limits.

Sources: OpenAI's, Azure's, Groq's and vLLM gateways' ``x-ratelimit-*`` headers, the IETF draft's
``ratelimit-*``, ``retry-after`` (RFC 9110: seconds or a date).
"""

import math
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from exporter.model.transcript import Transcript

_PART = re.compile(r"([0-9.]+)(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """One limit; None where the server does not say."""

    limit: float | None = None
    remaining: float | None = None
    reset_s: float | None = None
    """Seconds until the whole limit is there again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """The limits on requests and on tokens, and how long the server asks us to wait."""

    requests: RateLimit = RateLimit()
    tokens: RateLimit = RateLimit()
    retry_after_s: float | None = None


def rate_limits_in(transcript: Transcript, now_unix_s: float) -> RateLimits:
    """Read the headers of a response; anything odd is read as absent."""
    if not any("ratelimit" in name for name, _ in transcript.headers):
        return RateLimits(retry_after_s=_retry_after(transcript.header("retry-after"), now_unix_s))
    return RateLimits(
        requests=_limit(transcript, "-requests"),
        tokens=_limit(transcript, "-tokens"),
        retry_after_s=_retry_after(transcript.header("retry-after"), now_unix_s),
    )


def _limit(transcript: Transcript, of: str) -> RateLimit:
    # A limit without "of" is one on requests.
    names = (f"x-ratelimit-{{}}{of}", *(("x-ratelimit-{}", "ratelimit-{}") if of == "-requests" else ()))

    def said(word: str) -> str:
        values = (transcript.header(name.format(word)) for name in names)
        return next((value for value in values if value), "")

    return RateLimit(
        limit=_number(said("limit")), remaining=_number(said("remaining")), reset_s=_duration(said("reset"))
    )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _duration(text: str) -> float | None:
    """Read ``1s``, ``6m0s``, ``120ms`` or bare seconds."""
    compact = text.strip().lower()
    parts = _PART.findall(compact)
    if not parts or "".join(amount + unit for amount, unit in parts) != compact:
        return None
    try:
        return sum(float(amount) * _SECONDS[unit] for amount, unit in parts)
    except ValueError:
        return None


def _retry_after(text: str | None, now_unix_s: float) -> float | None:
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now_unix_s)
    except (ValueError, OverflowError):
        return None
