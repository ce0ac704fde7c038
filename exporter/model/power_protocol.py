"""Orders to the power worker and what it says, as values and as JSON objects, one a line.

Unasked, the worker says one ``Snapshot`` a tick.  ``Edge`` is answered by ``Edges`` with the same number;
snapshots may come in between.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from exporter.model.codec import DecodeError, decode, encode
from exporter.model.power import Snapshot

VERSION = 1

M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Sample every so many seconds from now on."""

    every_s: float
    processes: bool = False
    """Whether to list the processes on each GPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Ask for the next tick of these energy counters: GPUs by UUID, zones by name."""

    number: int
    meters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeFound:
    """One counter right after its tick.

    The tick was at most ``within_s`` before ``at_s``.  ``energy_j`` None: there is no counter, or it could
    not be read.  ``ticked`` False: it did not move for longer than a tick, so the time is not aligned.
    """

    meter: str
    at_s: float
    within_s: float
    energy_j: float | None
    ticked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """The answer to ``Edge``."""

    number: int
    found: tuple[EdgeFound, ...]


Order = Pace | Edge
Word = Snapshot | Edges

_ORDERS: dict[str, type[Order]] = {"pace": Pace, "edge": Edge}
_WORDS: dict[str, type[Word]] = {"snapshot": Snapshot, "edges": Edges}
_KINDS: dict[type, str] = {kind: name for name, kind in (_ORDERS | _WORDS).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbled:
    """A line that is not of this protocol, and in what way."""

    detail: str


def to_json(message: Order | Word) -> dict[str, Any]:
    """Return the message as a JSON object."""
    return {"power": VERSION, "kind": _KINDS[type(message)], "body": encode(message)}


def order_from_json(data: object) -> Order | Garbled:
    """Read an order, as the worker does."""
    return _from_json(_ORDERS, data)


def word_from_json(data: object) -> Word | Garbled:
    """Read what the worker says, as the parent does."""
    return _from_json(_WORDS, data)


def _from_json(kinds: dict[str, type[M]], data: object) -> M | Garbled:
    if not isinstance(data, dict) or data.get("power") != VERSION:
        return Garbled(detail="not a message of this version of the exporter; restart it after an upgrade")
    kind = kinds.get(str(data.get("kind")))
    if kind is None:
        return Garbled(detail=f"kind {str(data.get('kind'))[:40]!r} is none of {', '.join(kinds)}")
    try:
        return decode(kind, data.get("body"), str(data["kind"]))
    except DecodeError as error:
        return Garbled(detail=str(error))
