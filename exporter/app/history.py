"""The last results of every probe, as text; failures are kept longer than successes, all within a bound."""

from collections import deque
from collections.abc import Container, Iterator
from dataclasses import dataclass

from exporter.model.outcome import Outcome
from exporter.model.result_text import result_text
from exporter.model.results import ProbeResult
from exporter.web.answers import Past

MAX_BYTES = 4 * 1024 * 1024
SUCCESSES_EACH = 3
FAILURES_EACH = 20
_MAX_TEXT_BYTES = 8192
_ENTRY_BYTES = 512
"""What an entry takes beside its text."""

_Who = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    past: Past
    text: str
    who: _Who

    @property
    def bytes(self) -> int:
        return len(self.text.encode()) + _ENTRY_BYTES


class History:
    """Results in the order in which they came."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._next_id = 1
        self._entries: dict[int, _Entry] = {}
        self._kept: dict[tuple[_Who, bool], deque[int]] = {}
        self.bytes = 0

    def add(self, result: ProbeResult) -> None:
        """Keep a result; older ones of its kind, then of any, make room."""
        is_ok = result.outcome is Outcome.OK
        who = (result.target.name, result.spec.name)
        past = Past(
            id=self._next_id,
            target=result.target.name,
            probe=result.spec.name,
            outcome=str(result.outcome),
            total_s=None if result.phases is None else result.phases.total_s,
            finished_unix_s=result.finished_unix_s,
        )
        self._next_id += 1
        entry = _Entry(past, result_text(result)[:_MAX_TEXT_BYTES], who)
        self._entries[past.id] = entry
        self.bytes += entry.bytes
        kept = self._kept.setdefault((who, is_ok), deque())
        kept.append(past.id)
        while len(kept) > (SUCCESSES_EACH if is_ok else FAILURES_EACH):
            self._drop(kept[0])
        while self.bytes > self._max_bytes:
            self._drop(self._least_wanted())

    def list(self) -> tuple[Past, ...]:
        """Return what there is, the newest first."""
        return tuple(entry.past for entry in reversed(self._entries.values()))

    def text(self, id_: int) -> str | None:
        """Return the report of one result, or None where it is not kept any more."""
        entry = self._entries.get(id_)
        return None if entry is None else entry.text

    def keep_only(self, probes: Container[_Who]) -> None:
        """Forget the results of every other probe than these (target, probe)."""
        for id_ in [id_ for id_, entry in self._entries.items() if entry.who not in probes]:
            self._drop(id_)

    def _least_wanted(self) -> int:
        return next(self._oldest(is_ok=True), None) or next(self._oldest(is_ok=False))

    def _oldest(self, *, is_ok: bool) -> Iterator[int]:
        return (id_ for id_, entry in self._entries.items() if (entry.past.outcome == Outcome.OK) is is_ok)

    def _drop(self, id_: int) -> None:
        entry = self._entries.pop(id_)
        self.bytes -= entry.bytes
        key = (entry.who, entry.past.outcome == Outcome.OK)
        self._kept[key].remove(id_)
        if not self._kept[key]:
            del self._kept[key]
