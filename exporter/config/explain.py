"""What pydantic found, in words: what is wrong and the next step."""

import difflib
from collections.abc import Iterable
from typing import get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from exporter.config.leaks import Location
from exporter.config.problem import Problem
from exporter.config.tree import Document

_OTHER_WORDS = {
    "interval": "every",
    "period": "every",
    "url": "base_url",
    "endpoint": "base_url",
    "slo": "sla",
    "type": "kind",
    "p999": "p99.9",
    "p99_9": "p99.9",
}
"""What people call our keys elsewhere, too far from ours for a spelling match."""

_TYPES = {
    "string_type": "must be text; put the value in quotes",
    "bool_type": "must be true or false",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "list_type": "must be a list: one '- ' line for each item",
    "model_type": "must be a mapping: one 'key: value' line for each key",
    "dict_type": "must be a mapping: one 'key: value' line for each key",
}

_TEXTS = {
    "bool_parsing": "must be true or false",
    "float_parsing": "must be a number",
    "int_parsing": "must be a whole number",
    "missing": "is missing; add it",
    "too_short": "is empty; write at least one item",
    "too_long": "has more than LIMIT items; remove some",
}


def problems(
    error: ValidationError, model: type[BaseModel], document: Document, at: Location = ()
) -> list[Problem]:
    """Return one problem for each thing that pydantic found when the model was checked at that location."""
    return [_problem(detail, model, document, at) for detail in error.errors(include_url=False)]


def _problem(detail: ErrorDetails, model: type[BaseModel], document: Document, at: Location) -> Problem:
    location = detail["loc"]
    # pydantic marks an error in a mapping's key so; our path ends at the key itself.
    if location and location[-1] == "[key]":
        location = location[:-1]
    return document.problem((*at, *location), _text(detail, model, location))


def _text(detail: ErrorDetails, model: type[BaseModel], location: Location) -> str:
    given = detail["input"]
    match detail["type"]:
        case "extra_forbidden":
            return _unknown(str(location[-1]), _keys(model, location[:-1]))
        case "value_error":
            return str(detail["ctx"]["error"])
        case kind if kind in _TYPES:
            return _wrong_type(kind, given)
        case kind:
            limit = detail.get("ctx", {}).get("max_length")
            return (
                _TEXTS.get(kind, detail["msg"])
                .replace("Input should be", "must be")
                .replace("LIMIT", str(limit))
            )


def _wrong_type(kind: str, given: object) -> str:
    if given is None:
        return "has no value; write one, or remove the key"
    if kind == "string_type" and isinstance(given, (list, dict)):
        return "must be text, not a list or a mapping"
    return _TYPES[kind]


def _unknown(key: str, known: Iterable[str]) -> str:
    names = list(known)
    normal = key.strip().lower().replace("-", "_")
    close = difflib.get_close_matches(normal, names, n=1, cutoff=0.6)
    other = _OTHER_WORDS.get(normal)
    if other in names or close:
        return f"unknown key; did you mean `{other if other in names else close[0]}`?"
    return f"unknown key; remove it (known here: {', '.join(names)})"


def _keys(model: type[BaseModel], location: Location) -> list[str]:
    """Return the keys that the file may have at a location, or none where that is not one model."""
    inner: type[BaseModel] | None = model
    is_of_mapping = False
    for part in location:
        if inner is None:
            return []
        if isinstance(part, str) and not is_of_mapping:
            field = {f.alias or name: f for name, f in inner.model_fields.items()}.get(part)
            inner = _model_in(field.annotation) if field is not None else None
            is_of_mapping = field is not None and get_origin(field.annotation) is dict
        else:
            is_of_mapping = False
    return [f.alias or name for name, f in inner.model_fields.items()] if inner else []


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the first model in an annotation such as ``list[Target]`` or ``Tls | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _model_in(arg))), None)
