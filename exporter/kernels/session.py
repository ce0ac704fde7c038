"""A line to a kernel worker that is replaced when it dies."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from exporter.adapters.child import Child, ChildEnd, ChildFault
from exporter.model.protocol import Answer, Malformed, Question, answer_from_json, to_json

START_S = 60.0
"""Allowance for importing torch: 3 s on an idle machine, 27 s were seen on a busy one."""


class Session:
    """Questions to one worker after another; the next question after a fault goes to a new one.

    Used as an async context manager, which leaves no worker behind, however it is left.
    """

    def __init__(self, start: Callable[[], Awaitable[Child | ChildEnd]]) -> None:
        self._start = start
        self._child: Child | None = None
        self.faults = 0
        """How many workers ended over a question."""

    @property
    def pid(self) -> int | None:
        """Process id of the present worker."""
        return None if self._child is None else self._child.pid

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ask(self, question: Question, timeout_s: float) -> Answer | ChildEnd:
        """Return the answer to one question, or how the worker ended over it.

        A worker that has yet to import torch gets ``START_S`` on top.
        """
        if self._child is None:
            started = await self._start()
            if isinstance(started, ChildEnd):
                return started
            self._child = started
            timeout_s += START_S
        self._child.send(to_json(question))
        data = await self._child.receive(timeout_s)
        answer = data if isinstance(data, ChildEnd) else answer_from_json(data)
        if isinstance(answer, Malformed):
            answer = ChildEnd(ChildFault.BAD_OUTPUT, answer.detail)
        if isinstance(answer, ChildEnd):
            self.faults += 1
            await self.close()
        return answer

    async def close(self) -> None:
        """End the present worker; a later question starts another."""
        child, self._child = self._child, None
        if child is not None:
            await child.stop()
