"""The line to the power worker, which is replaced when it dies, hangs, or must load another driver."""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Sequence

from exporter.adapters.child import Child, ChildEnd, start_child
from exporter.adapters.child_environment import child_environment
from exporter.model.power import Fault, Snapshot, Source
from exporter.model.power_protocol import Edge, EdgeFound, Edges, Garbled, Pace, to_json, word_from_json
from exporter.model.power_view import Restart

WORKER = "exporter.workers.power_worker"
START_S = 30.0
"""Allowance for the first sample: 0.3 s on an idle machine, a driver that wakes up takes seconds."""
SILENCE_S = 6.0
"""On top of the interval.  The worker's own deadlines, one after the other, add up to 4 s."""
HUNG_S = 60.0
"""How long a driver may hang before another process tries; a library can hang by itself."""
EDGE_S = 4.0
MAX_BACKOFF_S = 60.0
HEALTHY_S = 30.0
"""After so long a life a worker's end is not taken for the same trouble as the last one's."""
GRACE_S = 3.0
GONE_S = 1.0

log = logging.getLogger(__name__)


async def start_worker() -> Child | ChildEnd:
    """Start a power worker with our environment's harmless part."""
    environment = child_environment(os.environ, threads=1)
    return await start_child(WORKER, str(os.getpid()), environment=environment)


class Link:
    """Keeps one worker running and hands on what it says."""

    def __init__(
        self,
        *,
        on_snapshot: Callable[[Snapshot], None],
        on_end: Callable[[Restart], None],
        start: Callable[[], Awaitable[Child | ChildEnd]] = start_worker,
        monotonic_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._on_snapshot = on_snapshot
        self._on_end = on_end
        self._start = start
        self._monotonic_s = monotonic_s
        self._sleep = sleep
        self._pace = Pace(every_s=1.0)
        self._child: Child | None = None
        self._edges: dict[int, asyncio.Future[tuple[EdgeFound, ...]]] = {}
        self._asked = 0
        self._hung_since_s: float | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the worker; None while there is none."""
        return None if self._child is None else self._child.pid

    def pace(self, pace: Pace) -> None:
        """Have it sample at this pace from now on."""
        self._pace = pace
        if self._child is not None:
            self._child.send(to_json(pace))

    async def edges(self, meters: Sequence[str]) -> tuple[EdgeFound, ...]:
        """Return the next ticks of these energy counters, in this order; none where no worker answers."""
        if self._child is None:
            return ()
        self._asked += 1
        answer: asyncio.Future[tuple[EdgeFound, ...]] = asyncio.get_running_loop().create_future()
        self._edges[self._asked] = answer
        self._child.send(to_json(Edge(number=self._asked, meters=tuple(meters))))
        try:
            async with asyncio.timeout(EDGE_S):
                found = {edge.meter: edge for edge in await answer}
        except TimeoutError:
            return ()
        return tuple(found[meter] for meter in meters if meter in found)

    async def run(self) -> None:
        """Keep a worker running until cancelled; then it is asked to end, and killed if it does not."""
        backoff_s = 0.0
        while True:
            begin_s = self._monotonic_s()
            end, detail = await self._life()
            if self._monotonic_s() - begin_s >= HEALTHY_S:
                backoff_s = 0.0
            log.warning("the power worker ended and is started again: %s: %s", end.value, detail)
            self._on_end(end)
            await self._sleep(backoff_s)
            backoff_s = min(MAX_BACKOFF_S, backoff_s * 2 or 1.0)

    async def _life(self) -> tuple[Restart, str]:
        """Start one worker and listen to it until its end."""
        started = await self._start()
        if isinstance(started, ChildEnd):
            return Restart(started.fault.value), started.detail
        self._child = started
        try:
            end = await self._listen(started)
        finally:
            self._child = None
            self._forget_questions()
            await started.dismiss(GRACE_S)
        # A process stuck in the driver cannot be killed; more of them would not help.
        while not started.is_gone:
            await self._sleep(GONE_S)
        return end

    async def _listen(self, child: Child) -> tuple[Restart, str]:
        self._hung_since_s = None
        child.send(to_json(self._pace))
        patience_s = START_S
        while True:
            data = await child.receive(patience_s)
            if isinstance(data, ChildEnd):
                return Restart(data.fault.value), data.detail
            word = word_from_json(data)
            match word:
                case Garbled(detail=detail):
                    return Restart.BAD_OUTPUT, detail
                case Edges(number=number, found=found):
                    answer = self._edges.pop(number, None)
                    if answer is not None and not answer.done():
                        answer.set_result(found)
                case Snapshot():
                    self._on_snapshot(word)
                    if (end := self._trouble(word)) is not None:
                        return end
            patience_s = self._pace.every_s + SILENCE_S

    def _trouble(self, snapshot: Snapshot) -> tuple[Restart, str] | None:
        """Return why only another process can help, if that is so."""
        state = next((s for s in snapshot.sources if s.source is Source.NVML), None)
        if state is None or state.fault is not Fault.HUNG:
            self._hung_since_s = None
        if state is not None and state.fault is Fault.VERSION_MISMATCH:
            return Restart.VERSION_MISMATCH, state.detail
        if state is not None and state.fault is Fault.HUNG:
            if self._hung_since_s is None:
                self._hung_since_s = snapshot.at_s
            if snapshot.at_s - self._hung_since_s >= HUNG_S:
                return Restart.HUNG, f"NVML has not answered for {HUNG_S:g} s"
        return None

    def _forget_questions(self) -> None:
        for answer in self._edges.values():
            if not answer.done():
                answer.set_result(())
        self._edges.clear()
