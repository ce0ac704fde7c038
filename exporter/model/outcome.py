"""The closed set of ways a request can end."""

from enum import StrEnum


class Outcome(StrEnum):
    """How one request ended; the only source of the label ``reason``."""

    OK = "ok"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    HTTP_3XX = "http_3xx"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_FIRST_TOKEN = "timeout_first_token"
    TIMEOUT_STALL = "timeout_stall"
    TIMEOUT_TOTAL = "timeout_total"
    STREAM_ERROR = "stream_error"
    STREAM_TRUNCATED = "stream_truncated"
    EMPTY = "empty"
    INVALID_RESPONSE = "invalid_response"
    CONTENT_MISMATCH = "content_mismatch"
    OVER_BUDGET = "over_budget"
    CLIENT_OVERLOAD = "client_overload"
    CANCELLED = "cancelled"
    INTERNAL = "internal"

    @property
    def is_failure(self) -> bool:
        """Tell whether the request failed, whoever's fault it was."""
        return self is not Outcome.OK

    @property
    def counts_for_sla(self) -> bool:
        """Tell whether the request is evidence about the target at all.

        A request that we cancelled, did not send for want of budget, or could not drive in time says
        nothing about the promise, good or bad.
        """
        return self not in _SAYS_NOTHING


_SAYS_NOTHING = frozenset({Outcome.CANCELLED, Outcome.OVER_BUDGET, Outcome.CLIENT_OVERLOAD})

FAILURES: tuple[Outcome, ...] = tuple(o for o in Outcome if o.is_failure)
"""Every value the label ``reason`` can take, in a stable order."""
