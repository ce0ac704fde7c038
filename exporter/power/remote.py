"""Watts of remote servers, asked for again and again."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable

from exporter.adapters.promql import NoAnswer, Prometheus

POLL_S = 15.0
"""As often as most Prometheus servers scrape."""
FRESH_S = 40.0
"""Two polls may fail before a value counts as unknown."""

log = logging.getLogger(__name__)


class Remote:
    """The last answer to each query, as long as it is fresh."""

    def __init__(
        self,
        prometheus: Prometheus,
        *,
        poll_s: float = POLL_S,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prometheus = prometheus
        self._poll_s = poll_s
        self._monotonic_s = monotonic_s
        self._answers: dict[str, tuple[float, float]] = {}
        self._said: dict[str, str] = {}

    def watts(self, query: str) -> float | None:
        """Return the watts that a query gave last; None where that is too long ago."""
        at_s, watts = self._answers.get(query, (0.0, None))
        return watts if watts is not None and self._monotonic_s() - at_s <= FRESH_S else None

    async def run(self, url: str, queries: Iterable[str]) -> None:
        """Ask until cancelled; what goes wrong is logged once until it is something else."""
        queries = tuple(dict.fromkeys(queries))
        while True:
            await asyncio.gather(*(self._ask(url, query) for query in queries))
            await asyncio.sleep(self._poll_s)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._prometheus.aclose()

    async def _ask(self, url: str, query: str) -> None:
        answer = await self._prometheus.number(url, query)
        if isinstance(answer, NoAnswer):
            if self._said.get(query) != answer.detail:
                log.warning("no watts from Prometheus: %s", answer.detail)
            self._said[query] = answer.detail
        else:
            self._said.pop(query, None)
            self._answers[query] = (self._monotonic_s(), answer)
