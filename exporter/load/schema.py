"""The JSON schema of the run file, made from the dataclasses that it holds."""

import dataclasses
import types
import typing
from enum import StrEnum
from typing import Any

from exporter.load.runfile import SCHEMA
from exporter.model.load_judgement import Finding
from exporter.model.load_result import LoadRun
from exporter.model.outcome import FAILURES

_SCALARS = {int: "integer", float: "number", str: "string", bool: "boolean"}
_FIGURE: dict[str, Any] = {"type": ["number", "null"]}
_PERCENTILES = {"type": "object", "additionalProperties": {"type": ["number", "null", "string"]}}
_CLOCKS = {
    "type": ["object", "null"],
    "additionalProperties": {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "mean_s": _FIGURE,
            "success_only_s": _PERCENTILES,
            "with_failures_s": _PERCENTILES,
        },
    },
}


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Run file of a load test",
        "type": "object",
        "required": ["schema", "stopped", "knee", "judgement", "steps", "run"],
        "properties": {
            "schema": {"const": SCHEMA},
            "stopped": {"type": "string"},
            "knee": {"type": ["object", "null"]},
            "judgement": {"type": "array", "items": _judgement()},
            "steps": {"type": "array", "items": _step()},
            "run": _of(LoadRun),
        },
    }


def _judgement() -> dict[str, Any]:
    fields: dict[str, Any] = {
        "step": {"type": "integer"},
        "finding": {"enum": [finding.value for finding in Finding]},
        "words": {"type": "string"},
    }
    return {"type": "object", "required": list(fields), "properties": fields}


def _step() -> dict[str, Any]:
    numbers = ("success_ratio", "qps", "success_qps", "goodput_qps", "goodput_ratio", "achieved_concurrency")
    more = ("input_tokens_per_s", "output_tokens_per_s", "client_cpu_cores", "client_lateness_p99_s")
    counts = ("sent", "n", "repeat", "settle_requests", "late", "dropped")
    errors = {outcome.value: {"type": "integer"} for outcome in FAILURES}
    fields: dict[str, Any] = {
        "level": {"type": "number"},
        "side": {"enum": ["a", "b"]},
        "client_limited": {"type": "boolean"},
        "client_limits": {"type": "array", "items": {"type": "string"}},
        "stopped": {"type": "string"},
        "errors": {"type": "object", "properties": errors, "additionalProperties": False},
        "latency": _CLOCKS,
        "latency_not_the_servers": _CLOCKS,
        "cost": {"type": "object", "additionalProperties": _FIGURE},
        **dict.fromkeys((*numbers, *more, "invalid_ratio"), _FIGURE),
        **{name: {"type": "integer"} for name in counts},
    }
    return {"type": "object", "required": sorted(fields), "properties": fields}


def _of(kind: Any) -> dict[str, Any]:
    """Return the schema of what the codec writes for a type."""
    origin = typing.get_origin(kind)
    if origin is tuple:
        return {"type": "array", "items": _of(typing.get_args(kind)[0])}
    if origin in {typing.Union, types.UnionType}:
        (inner,) = (arg for arg in typing.get_args(kind) if arg is not types.NoneType)
        return {"anyOf": [_of(inner), {"type": "null"}]}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind)]
        return {
            "type": "object",
            "required": names,
            "additionalProperties": False,
            "properties": {name: _of(hints[name]) for name in names},
        }
    if issubclass(kind, StrEnum):
        return {"enum": [member.value for member in kind]}
    return {"type": _SCALARS[kind]}
