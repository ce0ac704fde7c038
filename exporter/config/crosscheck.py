"""What no single key shows: names used twice, kinds and their parameters, promises that cannot be measured.

Works on the plain values, whatever else is wrong with them, so that one look at a file finds everything.
"""

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError

from exporter.config import explain
from exporter.config.kind import Kind
from exporter.config.leaks import Location, leaks
from exporter.config.problem import Problem
from exporter.config.tree import Document, Plain
from exporter.model.clocks import Clock


@dataclass(frozen=True, slots=True)
class Known:
    """A probe's checked parameters and the clocks they give."""

    params: BaseModel
    clocks: frozenset[Clock]


@dataclass(slots=True)
class Findings:
    """Problems, and what is known of each probe by its place: target number, probe number."""

    problems: list[Problem] = field(default_factory=list)
    probes: dict[tuple[int, int], Known] = field(default_factory=dict)


def crosscheck(document: Document, kinds: Mapping[str, Kind], suites: Collection[str] | None) -> Findings:
    """Check what spans several keys."""
    found = Findings()
    targets = _items(document.plain, "targets")
    found.problems += _twice(document, ("targets",), targets)
    for t, target in targets:
        probes = _items(target, "probes")
        found.problems += _twice(document, ("targets", t, "probes"), probes)
        found.problems += _twice(document, ("targets", t, "load"), _items(target, "load"))
        for p, probe in probes:
            if isinstance(probe, dict):
                known = _known(document, ("targets", t, "probes", p), probe, kinds, found.problems)
                if known is not None:
                    found.probes[t, p] = known
    found.problems += _benches(document, suites)
    return found


def secrets(document: Document) -> Iterator[Problem]:
    """Yield a problem for each place where a secret stands in the file; the secret is never part of it."""
    for at in leaks(document.plain):
        yield document.problem(at, _LEAK)


_LEAK = (
    "this file never holds an API key or another secret; take it out and write api_key_env: NAME_OF_VARIABLE "
    "or api_key_file: PATH"
)


def _known(
    document: Document,
    at: Location,
    probe: dict[str, Plain],
    kinds: Mapping[str, Kind],
    problems: list[Problem],
) -> Known | None:
    """Return what the kind makes of a probe's parameters, or None after adding the problems."""
    word, params = probe.get("kind"), probe.get("params", {})
    if not isinstance(word, str):
        return None
    kind = kinds.get(word)
    if kind is None:
        problems.append(document.problem((*at, "kind"), f"unknown kind of probe; {_hint(word, kinds)}"))
        return None
    if not isinstance(params, dict):
        return None
    try:
        checked = kind.params.model_validate(params)
    except ValidationError as error:
        problems += explain.problems(error, kind.params, document, (*at, "params"))
        return None
    known = Known(checked, kind.clocks(checked))
    problems += _unmeasurable(document, at, probe.get("sla"), kind.name, known.clocks)
    return known


def _unmeasurable(
    document: Document, at: Location, sla: Plain, kind: str, clocks: frozenset[Clock]
) -> Iterator[Problem]:
    """Yield a problem for each promise on a clock that the probe does not have."""
    has = ", ".join(clock for clock in Clock if clock in clocks)
    for clock in Clock:
        if isinstance(sla, dict) and clock in sla and clock not in clocks:
            text = f"kind {kind} with these params has no {clock}; it has {has or 'no clock at all'}"
            yield document.problem((*at, "sla", clock), text)


def _twice(document: Document, at: Location, entries: list[tuple[int, Plain]]) -> Iterator[Problem]:
    """Yield a problem for each name that an earlier entry of the list has already."""
    seen: dict[str, int] = {}
    for index, entry in entries:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            first = document.problem((*at, seen[name], "name"), "").line
            text = f"the name {name} is taken on line {first}; choose another"
            yield document.problem((*at, index, "name"), text)
        seen.setdefault(name, index)


def _hint(word: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.75)
    guess = f"; did you mean {close[0]}?" if close else ""
    return f"known: {', '.join(sorted(known))}{guess}"


def _benches(document: Document, suites: Collection[str] | None) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, bench in _items(document.plain, "benches"):
        if isinstance(bench, dict):
            suite = bench.get("suite")
            if suites is not None and isinstance(suite, str) and suite not in suites:
                yield document.problem(("benches", index, "suite"), f"unknown suite; {_hint(suite, suites)}")
            same = repr((suite, bench.get("devices")))
            if same in seen:
                text = "this suite stands here twice for the same devices; remove one"
                yield document.problem(("benches", index, "suite"), text)
            seen.add(same)


def _items(plain: Plain, key: str) -> list[tuple[int, Plain]]:
    """Return the numbered items of the list under a key, or none where there is no such list."""
    items = plain.get(key) if isinstance(plain, dict) else None
    return list(enumerate(items)) if isinstance(items, list) else []
