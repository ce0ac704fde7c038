"""The workers of a run: started, set up, given their shares of a step, and gone afterwards."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from exporter.adapters.child import Child, ChildEnd, start_child
from exporter.adapters.child_environment import child_environment
from exporter.load.order import LoadError
from exporter.model.codec import DecodeError
from exporter.model.load_protocol import (
    Order,
    Progress,
    Ready,
    Report,
    Setup,
    StepDone,
    StepOrder,
    Stop,
    Unable,
    report_from_json,
    to_json,
)

WORKER = "exporter.workers.load_worker"
SETUP_S = 60.0
SILENCE_S = 30.0
"""A worker reports several times a second; one that says nothing for this long is killed."""

Start = Callable[[], Awaitable[Child | ChildEnd]]


async def start_worker() -> Child | ChildEnd:
    """Start a load worker with our environment's harmless part."""
    environment = child_environment(os.environ, threads=1)
    return await start_child(WORKER, str(os.getpid()), environment=environment)


class Crew:
    """Some workers with one setup; a context manager, at whose end they are gone."""

    def __init__(self, setup: Setup, size: int, start: Start = start_worker) -> None:
        self._setup = setup
        self._size = size
        self._start = start
        self._workers: list[Child] = []

    async def __aenter__(self) -> Self:
        try:
            await self._begin()
        except BaseException:
            await self._stop_all()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop_all()

    async def _begin(self) -> None:
        for _ in range(self._size):
            worker = await self._start()
            if isinstance(worker, ChildEnd):
                raise LoadError(f"a load worker could not be started: {worker.detail}")
            self._workers.append(worker)
            worker.send(to_json(self._setup))
        for worker in self._workers:
            answer = await _receive(worker, SETUP_S)
            if not isinstance(answer, Ready):
                detail = answer.detail if isinstance(answer, Unable | ChildEnd) else "unexpected answer"
                raise LoadError(f"a load worker cannot begin: {detail}")

    @property
    def size(self) -> int:
        """How many workers there are."""
        return self._size

    async def run(
        self, orders: Sequence[StepOrder], stop: asyncio.Event, watch: Callable[[Sequence[Progress]], None]
    ) -> list[StepDone | str]:
        """Run one step, one order a worker; return what each reports, or why it could not.

        ``stop`` ends the step early; what was measured is reported all the same.
        """
        latest: dict[int, Progress] = {}

        async def follow(index: int, order: StepOrder) -> StepDone | str:
            worker = self._workers[index]
            worker.send(to_json(order))
            while True:
                report = await _receive(worker, SILENCE_S)
                if isinstance(report, Progress):
                    latest[index] = report
                    watch(tuple(latest.values()))
                elif isinstance(report, StepDone):
                    return report
                else:
                    return report.detail if isinstance(report, Unable | ChildEnd) else "unexpected answer"

        stopper = asyncio.create_task(self._stop_on(stop))
        try:
            return list(await asyncio.gather(*(follow(i, order) for i, order in enumerate(orders))))
        finally:
            stopper.cancel()

    async def _stop_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        message: Order = Stop()
        for worker in self._workers:
            worker.send(to_json(message))

    async def _stop_all(self) -> None:
        for worker in self._workers:
            await worker.stop()


async def _receive(worker: Child, timeout_s: float) -> Report | ChildEnd:
    answer = await worker.receive(timeout_s)
    if isinstance(answer, ChildEnd):
        return answer
    try:
        return report_from_json(answer)
    except DecodeError as error:
        return Unable(str(error))
