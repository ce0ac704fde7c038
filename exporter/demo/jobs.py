"""What the engine works on: one answer being written, or one set of texts being embedded."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from exporter.demo import vocabulary
from exporter.demo.events import Finish, Mailbox
from exporter.demo.model import Floats, KvCache, Transformer
from exporter.demo.sampling import Sampling, choose
from exporter.demo.text import TextStream


class Prefill:
    """A prompt on its way into a cache of its own, some tokens at a time."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = np.array(tokens, np.int64)
        self._done = 0
        self._cache: KvCache | None = None

    @property
    def is_complete(self) -> bool:
        """Tell whether the whole prompt is in the cache."""
        return self._done == len(self._tokens)

    def advance(self, model: Transformer, most: int) -> Floats:
        """Run the next ``most`` tokens, or what is left, and return their states (steps, width)."""
        if self._cache is None:
            self._cache = KvCache(model.shape, rows=1, length=len(self._tokens))
        part = self._tokens[self._done : self._done + most]
        states: Floats = model.forward(part[None], self._cache, np.array([self._done]))[0]
        self._done += len(part)
        return states

    def take(self) -> KvCache:
        """Hand the filled cache over, and let go of it.  Raises ValueError before ``advance``."""
        if self._cache is None:
            raise ValueError("the prompt has not been run")
        cache, self._cache = self._cache, None
        return cache


@dataclass(eq=False)
class Job(ABC):
    """One request in the engine; ``cancelled`` may be set at any time by whoever waits for it."""

    mailbox: Mailbox = field(default_factory=Mailbox, init=False)
    cancelled: bool = field(default=False, init=False)

    @abstractmethod
    def advance(self, model: Transformer, most: int) -> bool:
        """Do at most ``most`` tokens of prefill; true when none is left."""


@dataclass(eq=False, kw_only=True)
class Embedding(Job):
    """Texts whose final states are averaged; ``rows`` fills up with one unit vector each."""

    inputs: Sequence[Sequence[int]]
    rows: list[Floats] = field(default_factory=list, init=False)
    _prefill: Prefill | None = field(default=None, init=False)
    _sum: Floats | None = field(default=None, init=False)

    def advance(self, model: Transformer, most: int) -> bool:
        """Do at most ``most`` tokens of prefill; true when every text has its vector."""
        if self._prefill is None:
            self._prefill = Prefill(self.inputs[len(self.rows)])
            self._sum = None
        part: Floats = self._prefill.advance(model, most).sum(0)
        self._sum = part if self._sum is None else self._sum + part
        if self._prefill.is_complete:
            self.rows.append(self._sum / np.linalg.norm(self._sum))
            self._prefill = None
        return len(self.rows) == len(self.inputs)


@dataclass(eq=False, kw_only=True)
class Generation(Job):
    """An answer being written: the prompt first, then a token a step."""

    prompt: Sequence[int]
    max_tokens: int
    """Prompt and this together fit the model's context."""
    sampling: Sampling
    stops: tuple[str, ...] = ()
    ignore_end: bool = False
    """Never sample the end token, so that the answer has its full length."""
    tokens: int = field(default=0, init=False)
    last: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        self.prefill = Prefill(self.prompt)
        self._text = TextStream(self.stops)
        self._rng = np.random.default_rng(self.sampling.seed)
        self._states: Floats | None = None

    @property
    def position(self) -> int:
        """Where in the sequence the last sampled token stands."""
        return len(self.prompt) + self.tokens - 1

    def advance(self, model: Transformer, most: int) -> bool:
        """Do at most ``most`` tokens of prefill; true when the prompt is in."""
        self._states = self.prefill.advance(model, most)
        return self.prefill.is_complete

    def first_states(self) -> Floats:
        """Return the states (1, width) that the first token comes from; the prompt must be in."""
        if self._states is None:
            raise ValueError("the prompt has not been run")
        return self._states[-1:]

    def accept(self, scores: Floats) -> tuple[str, Finish | None]:
        """Sample a token and return the text to send and, at the end, why it ended."""
        # An answer has at least one token: an empty one would look like a broken server.
        may_end = self.tokens > 0 and not self.ignore_end
        token = choose(scores, vocabulary.may_follow(self.last, may_end=may_end), self.sampling, self._rng)
        if token == vocabulary.END:
            return self._text.flush(), Finish.STOP
        self.last = token
        self.tokens += 1
        text = self._text.feed(token)
        if self._text.stopped:
            return text, Finish.STOP
        if self.tokens == self.max_tokens:
            return text + self._text.flush(), Finish.LENGTH
        return text, None
