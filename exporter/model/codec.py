"""Frozen dataclasses to JSON objects and back, strictly: no field too many, none missing, no type guessed."""

import dataclasses
import functools
import math
import types
import typing
from enum import StrEnum
from typing import Any, TypeVar

T = TypeVar("T")


class DecodeError(ValueError):
    """A JSON value is not what the type says; the message names the field."""


def encode(value: object) -> Any:
    """Return the JSON form of a value made of dataclasses, tuples, str enums and plain scalars.

    Raises:
        TypeError: a type that has no form here.
    """
    if isinstance(value, StrEnum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(kind: type[T], data: object, path: str = "$") -> T:
    """Build a ``kind`` from parsed JSON.

    Raises:
        DecodeError: the data does not fit; ``path`` is where in it.
    """
    result: T = _decode(kind, data, path)
    return result


def _decode(kind: Any, data: object, path: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind)[0], data, path)
    if origin in {typing.Union, types.UnionType}:
        return _decode_union(typing.get_args(kind), data, path)
    if dataclasses.is_dataclass(kind):
        return _decode_object(kind, data, path)
    if issubclass(kind, StrEnum):
        return _decode_enum(kind, data, path)
    return _decode_scalar(kind, data, path)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the type of each field; working that out takes a hundred times as long as reading a value."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _decode_object(kind: Any, data: object, path: str) -> Any:
    if not isinstance(data, dict):
        raise DecodeError(f"{path}: expected an object, got {type(data).__name__}")
    hints = _hints(kind)
    if data.keys() != hints.keys():
        odd = ", ".join(sorted(map(str, data.keys() ^ hints.keys())))
        raise DecodeError(f"{path}: missing or unknown fields: {odd}")
    fields = {name: _decode(hint, data[name], f"{path}.{name}") for name, hint in hints.items()}
    try:
        return kind(**fields)
    except ValueError as error:
        raise DecodeError(f"{path}: {error}") from error


def _decode_tuple(kind: Any, data: object, path: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise DecodeError(f"{path}: expected a list, got {type(data).__name__}")
    return tuple(_decode(kind, item, f"{path}[{index}]") for index, item in enumerate(data))


def _decode_union(kinds: tuple[Any, ...], data: object, path: str) -> Any:
    """Take null for None, and of several dataclasses the one that has exactly these fields."""
    if data is None and types.NoneType in kinds:
        return None
    inner = [kind for kind in kinds if kind is not types.NoneType]
    if len(inner) > 1:
        fields = set(data) if isinstance(data, dict) else set()
        inner = [kind for kind in inner if {field.name for field in dataclasses.fields(kind)} == fields]
    if len(inner) != 1:
        raise DecodeError(f"{path}: fits none of {', '.join(kind.__name__ for kind in kinds)}")
    return _decode(inner[0], data, path)


def _decode_enum(kind: type[StrEnum], data: object, path: str) -> StrEnum:
    try:
        return kind(str(data))
    except ValueError:
        raise DecodeError(f"{path}: {str(data)[:40]!r} is none of {', '.join(kind)}") from None


def _decode_scalar(kind: type, data: object, path: str) -> Any:
    if kind is float and type(data) is int:
        data = float(data)
    # bool is an int to isinstance, and no number here.
    if type(data) is not kind:
        raise DecodeError(f"{path}: expected {kind.__name__}, got {type(data).__name__}")
    if isinstance(data, float) and not math.isfinite(data):
        raise DecodeError(f"{path}: not a finite number")
    return data
