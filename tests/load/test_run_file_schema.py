"""The committed JSON schema is the one of the code, and a run file keeps it."""

import json
import re
from pathlib import Path

from exporter.load.runfile import dumps
from exporter.load.schema import schema
from tests.load.test_compare_and_report import run_of, step

DOCS = Path(__file__).parents[2] / "docs"
_TYPES = {
    "integer": int,
    "number": (int, float),
    "string": str,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "array": list,
}


def problems(value: object, rule: dict, path: str = "$") -> list[str]:
    """Check the part of JSON Schema that our schema uses."""
    if "const" in rule:
        return [] if value == rule["const"] else [f"{path}: not {rule['const']}"]
    if "enum" in rule:
        return [] if value in rule["enum"] else [f"{path}: {value!r} is none of {rule['enum']}"]
    if "anyOf" in rule:
        each = [problems(value, one, path) for one in rule["anyOf"]]
        return [] if [] in each else each[0]
    allowed = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    if not any(isinstance(value, _TYPES[name]) for name in allowed):
        return [f"{path}: {type(value).__name__} is not {allowed}"]
    found = _in_object(value, rule, path) if isinstance(value, dict) else []
    if isinstance(value, list):
        found += [p for i, item in enumerate(value) for p in problems(item, rule["items"], f"{path}[{i}]")]
    return found


def _in_object(value: dict, rule: dict, path: str) -> list[str]:
    known, other = rule.get("properties", {}), rule.get("additionalProperties", True)
    found = [f"{path}: lacks {name}" for name in rule.get("required", []) if name not in value]
    for name, item in value.items():
        if name in known:
            found += problems(item, known[name], f"{path}.{name}")
        elif other is False:
            found.append(f"{path}: unknown {name}")
        elif isinstance(other, dict):
            found += problems(item, other, f"{path}.{name}")
    return found


def test_the_committed_schema_is_the_codes() -> None:
    """If not: write ``json.dumps(schema(), indent=1)`` there."""
    assert json.loads((DOCS / "load-run.schema.json").read_text()) == schema()


def test_run_files_keep_the_schema() -> None:
    for run in (run_of(step(50), step(60, failed=9)), run_of(), run_of(step(50, level=256.0, n=2000))):
        assert problems(json.loads(dumps(run)), schema()) == []


def test_a_broken_run_file_does_not() -> None:
    data = json.loads(dumps(run_of(step(50))))
    data["run"]["plan"]["mode"] = "sideways"
    del data["steps"][0]["qps"]
    assert len(problems(data, schema())) == 2


def test_the_page_names_every_finding() -> None:
    page = (DOCS / "load.md").read_text()
    for finding in schema()["properties"]["judgement"]["items"]["properties"]["finding"]["enum"]:
        assert finding == "few_samples" or re.search(rf"\*\*{finding}\*\*", page)
