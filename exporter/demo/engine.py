"""Continuous batching: one thread that advances all answers together, a token a step."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from exporter.demo.events import Aborted, Delta, Done, Event, Vectors
from exporter.demo.jobs import Embedding, Generation, Job
from exporter.demo.model import Floats, KvCache, Transformer

PREFILL_CHUNK = 64
"""Tokens of a prompt between two decode steps: about 3 ms for which the other answers wait."""

Post = Callable[[list[tuple[Job, Event]]], object]


class QueueFullError(Exception):
    """The waiting line is as long as it may get; ``limit`` is how long that is."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} requests are waiting already")
        self.limit = limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the engine is doing now, and has done since it started."""

    active: int = 0
    """Jobs being worked on, prefill included."""
    waiting: int = 0
    decode_steps: int = 0
    decoded_tokens: int = 0
    """Tokens out of decode steps; divided by the steps it is the mean batch size."""


class Engine:
    """At most ``max_batch`` jobs at work and ``max_queue`` waiting, first come first served.

    ``run`` belongs to the engine's thread, everything public besides to the event loop's.  ``post`` gets
    the events of each step, in the engine's thread; ``clock`` gives their time.
    """

    def __init__(
        self, model: Transformer, *, max_batch: int, max_queue: int, post: Post, clock: Callable[[], float]
    ) -> None:
        self.model = model
        self._max_batch = max_batch
        self._max_queue = max_queue
        self._post = post
        self._clock = clock
        self._wake = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._stopping = False
        self._load = Load()
        # Row i of the pool is the cache of _active[i]; the rows in use are always the first ones, so
        # that a step works on a view of them.
        self._pool = KvCache(model.shape, rows=max_batch, length=model.shape.context)
        self._active: list[Generation] = []
        self._filling: Job | None = None
        self._events: list[tuple[Job, Event]] = []

    def submit(self, job: Job) -> None:
        """Put a job at the end of the line.  Raises QueueFullError when the line is full."""
        with self._wake:
            if len(self._waiting) + self._load.active >= self._max_batch + self._max_queue:
                raise QueueFullError(self._max_queue)
            self._waiting.append(job)
            self._wake.notify()

    def cancel(self, job: Job) -> None:
        """Forget a job: at once if it waits, else before the next step; nothing if it is done."""
        with self._wake:
            job.cancelled = True
            if job in self._waiting:
                self._waiting.remove(job)

    def stop(self) -> None:
        """Make ``run`` return after the step it is in; what is unfinished gets ``Aborted``."""
        with self._wake:
            self._stopping = True
            self._wake.notify()

    @property
    def load(self) -> Load:
        """The load as of the last step."""
        with self._wake:
            return replace(self._load, waiting=len(self._waiting))

    def run(self) -> None:
        """Work until ``stop``; sleeps while there is nothing to do."""
        try:
            while self._await_work():
                self._fill()
                self._decode()
                self._deliver()
        finally:
            self._abort()

    def _await_work(self) -> bool:
        """Drop what was cancelled, take in what fits; false when it is time to stop."""
        for job in [job for job in self._active if job.cancelled]:
            self._leave(job)
        if self._filling is not None and self._filling.cancelled:
            self._filling = None
        with self._wake:
            self._note_active()
            while not (self._stopping or self._active or self._filling or self._waiting):
                self._wake.wait()
            if self._filling is None and self._waiting and len(self._active) < self._max_batch:
                self._filling = self._waiting.popleft()
            self._note_active()
            return not self._stopping

    def _note_active(self) -> None:
        self._load = replace(self._load, active=len(self._active) + (self._filling is not None))

    def _fill(self) -> None:
        job = self._filling
        if job is None:
            return
        complete = job.advance(self.model, PREFILL_CHUNK)
        if not complete:
            return
        self._filling = None
        if isinstance(job, Embedding):
            self._events.append((job, Vectors(self._clock(), np.stack(job.rows))))
        elif isinstance(job, Generation):
            self._join(job)

    def _join(self, job: Generation) -> None:
        if self._accept(job, self.model.logits(job.first_states())[0]):
            return
        self._pool.copy_row(len(self._active), job.prefill.take(), 0, len(job.prompt))
        self._active.append(job)

    def _leave(self, job: Generation) -> None:
        row, last = self._active.index(job), len(self._active) - 1
        mover = self._active.pop()
        if row != last:
            self._pool.copy_row(row, self._pool, last, mover.position)
            self._active[row] = mover

    def _decode(self) -> None:
        if not self._active:
            return
        tokens = np.array([[job.last] for job in self._active])
        starts = np.array([job.position for job in self._active])
        states: Floats = self.model.forward(tokens, self._pool, starts)[:, -1]
        scores = self.model.logits(states)
        ended = [job for job, row in zip(self._active, scores, strict=True) if self._accept(job, row)]
        self._load = replace(
            self._load,
            decode_steps=self._load.decode_steps + 1,
            decoded_tokens=self._load.decoded_tokens + len(self._active),
        )
        for job in ended:
            self._leave(job)

    def _accept(self, job: Generation, scores: Floats) -> bool:
        """Let the job sample; true when that was the end of it."""
        text, finish = job.accept(scores)
        now = self._clock()
        if text:
            self._events.append((job, Delta(now, text)))
        if finish is not None:
            self._events.append((job, Done(now, finish, job.tokens)))
        return finish is not None

    def _deliver(self) -> None:
        if self._events:
            self._post(self._events)
            self._events = []

    def _unfinished(self) -> Iterable[Job]:
        yield from self._active
        if self._filling is not None:
            yield self._filling
        with self._wake:
            yield from self._waiting

    def _abort(self) -> None:
        self._post([*self._events, *((job, Aborted(self._clock())) for job in self._unfinished())])
