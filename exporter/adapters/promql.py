"""Watts of a remote server, from a Prometheus that has them already (DCGM or IPMI exporter)."""

import json
import math
from dataclasses import dataclass
from typing import Any

import aiohttp

TIMEOUT_S = 5.0
MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why there is no number; one line for people, without the query's result."""

    detail: str


class Prometheus:
    """Instant queries; open it on the event loop that uses it and close it there."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def number(self, url: str, query: str) -> float | NoAnswer:
        """Return the one number that a query gives at this moment; several series are an error, not a sum."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S))
        try:
            request = self._session.post(
                f"{url.rstrip('/')}/api/v1/query", data={"query": query}, allow_redirects=False
            )
            async with request as response:
                body = await response.content.read(MAX_BYTES)
                # A first read can return a part; what is cut off is no JSON, and says so below.
                while len(body) < MAX_BYTES and (more := await response.content.read(MAX_BYTES - len(body))):
                    body += more
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return NoAnswer(f"{url}: {type(error).__name__}; check power.prometheus")
        return _number(body)

    async def aclose(self) -> None:
        """Close its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _number(body: bytes) -> float | NoAnswer:
    answer = _json(body)
    if answer.get("status") != "success":
        said = str(answer.get("error", "not an answer of Prometheus"))[:200]
        return NoAnswer(f"the query failed: {' '.join(said.split())}")
    data = answer.get("data")
    kind, result = (data.get("resultType"), data.get("result")) if isinstance(data, dict) else (None, None)
    if kind == "vector" and isinstance(result, list):
        if len(result) != 1:
            return NoAnswer(
                f"the query gives {len(result)} series; write one that gives one, such as sum(...)"
            )
        result = result[0].get("value") if isinstance(result[0], dict) else None
    try:
        value = float(result[1]) if isinstance(result, list) else math.nan
    except (IndexError, TypeError, ValueError):
        value = math.nan
    return value if math.isfinite(value) and value >= 0 else NoAnswer("the query gives no number of watts")


def _json(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}
