"""Questions to the kernel worker and its answers, as values and as JSON objects.

One line each way a message: ``{"protocol": 2, "kind": "measure", "body": {...}}``.  Every question gets
exactly one answer, in order.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from exporter.model.codec import DecodeError, decode, encode
from exporter.model.kernel import KernelCase, KernelRun, Variant, Verdict
from exporter.model.observation import Environment, Group, Sustained

VERSION = 2

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Describe:
    """Ask what there is to measure on; answered by ``Environment`` or ``Unsupported``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Ask for the variants of one case, interleaved; answered by ``Group``, ``Failed`` or ``Unsupported``."""

    case: KernelCase
    device: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sustain:
    """Ask for one variant without a pause for ``seconds``; answered by ``Sustained``, ``Failed`` or
    ``Unsupported``."""

    run: KernelRun
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """Nothing can be measured here; ``detail`` says why and what to do."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """This question could not be answered; the worker itself is still well."""

    verdict: Verdict
    detail: str


Question = Describe | Measure | Sustain
Answer = Environment | Group | Sustained | Unsupported | Failed

_QUESTIONS: dict[str, type[Question]] = {"describe": Describe, "measure": Measure, "sustain": Sustain}
_ANSWERS: dict[str, type[Answer]] = {
    "environment": Environment,
    "group": Group,
    "sustained": Sustained,
    "unsupported": Unsupported,
    "failed": Failed,
}
_KINDS: dict[type, str] = {kind: name for name, kind in (_QUESTIONS | _ANSWERS).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """A message that is not of this protocol, and in what way."""

    detail: str


def to_json(message: Question | Answer) -> dict[str, Any]:
    """Return the message as a JSON object."""
    return {"protocol": VERSION, "kind": _KINDS[type(message)], "body": encode(message)}


def question_from_json(data: object) -> Question | Malformed:
    """Read a question, as the worker does."""
    return _from_json(_QUESTIONS, data)


def answer_from_json(data: object) -> Answer | Malformed:
    """Read an answer, as the parent does."""
    return _from_json(_ANSWERS, data)


def _from_json(kinds: dict[str, type[M]], data: object) -> M | Malformed:
    if not isinstance(data, dict):
        return Malformed(detail=f"expected a JSON object, got {type(data).__name__}")
    if data.get("protocol") != VERSION:
        return Malformed(
            detail=f"protocol {str(data.get('protocol'))[:20]!r} is not ours ({VERSION}): "
            "exporter and worker are of two versions; restart the exporter after an upgrade"
        )
    kind = kinds.get(str(data.get("kind")))
    if kind is None:
        return Malformed(detail=f"kind {str(data.get('kind'))[:40]!r} is none of {', '.join(kinds)}")
    try:
        return decode(kind, data.get("body"), str(data["kind"]))
    except DecodeError as error:
        return Malformed(detail=str(error))
