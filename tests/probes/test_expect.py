"""Canaries: what a good answer must say, and that a broken one is called by its condition."""

import pytest
from pydantic import ValidationError

from exporter.model.answer import Answer, TokenEvent
from exporter.model.outcome import Outcome
from exporter.model.verdict import Verdict
from exporter.probes.expect import Expect, held_against

OK = Verdict(Outcome.OK)
PERSON = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "kind": {"const": "person"},
        "note": {"type": ["string", "null"]},
    },
}


def answer(text: str, tokens: int = 3, finish: str = "stop") -> Answer:
    events = (TokenEvent(1, 1, frozenset()),) * tokens
    return Answer(is_stream=True, tokens=events, text=text, finish=finish)


CASES = [
    ("contains", {"contains": "Paris"}, "It is Paris.", True),
    ("does not contain", {"contains": "paris"}, "It is Paris.", False),
    ("matches", {"regex": r"\bP\w+s\b"}, "It is Paris.", True),
    ("does not match", {"regex": r"^Paris"}, "It is Paris.", False),
    ("equals but for white space", {"equals": "Paris"}, " Paris\n", True),
    ("does not equal", {"equals": "Paris"}, "Paris.", False),
    ("enough tokens", {"min_tokens": 3}, "x", True),
    ("too few tokens", {"min_tokens": 4}, "x", False),
    ("ends as it should", {"finish_reason": "stop"}, "x", True),
    ("ends otherwise", {"finish_reason": "tool_calls"}, "x", False),
    ("all of several", {"contains": "a", "regex": "b"}, "ab", True),
    ("one of several broken", {"contains": "a", "regex": "c"}, "ab", False),
    (
        "JSON that fits",
        {"json_schema": PERSON},
        '{"name": "Al", "age": 3, "tags": ["a"], "note": null}',
        True,
    ),
    ("not JSON", {"json_schema": PERSON}, "Al", False),
    ("a missing property", {"json_schema": PERSON}, "{}", False),
    ("a property too many", {"json_schema": PERSON}, '{"name": "Al", "x": 1}', False),
    ("too short", {"json_schema": PERSON}, '{"name": "A"}', False),
    ("not of the pattern", {"json_schema": PERSON}, '{"name": "al"}', False),
    ("a fraction", {"json_schema": PERSON}, '{"name": "Al", "age": 1.5}', False),
    ("true is no integer", {"json_schema": PERSON}, '{"name": "Al", "age": true}', False),
    ("too large", {"json_schema": PERSON}, '{"name": "Al", "age": 151}', False),
    ("not among the items", {"json_schema": PERSON}, '{"name": "Al", "tags": ["c"]}', False),
    ("too many items", {"json_schema": PERSON}, '{"name": "Al", "tags": ["a", "a", "a"]}', False),
    ("not the constant", {"json_schema": PERSON}, '{"name": "Al", "kind": "dog"}', False),
    ("null is JSON", {"json_schema": {"type": "null"}}, "null", True),
]


@pytest.mark.parametrize(("_", "expect", "text", "holds"), CASES, ids=[row[0] for row in CASES])
def test_conditions(_: str, expect: dict, text: str, holds: bool) -> None:
    verdict = held_against(Expect.model_validate(expect), OK, answer(text))
    assert verdict.outcome is (Outcome.OK if holds else Outcome.CONTENT_MISMATCH)
    assert verdict.detail.startswith("expect." if not holds else "")
    assert text not in verdict.detail or len(text) < 3


def test_a_failure_keeps_its_own_name() -> None:
    failed = Verdict(Outcome.HTTP_5XX, "HTTP 500")
    assert held_against(Expect(contains="x"), failed, answer("")) == failed
    assert held_against(None, OK, answer("")) == OK


BAD = [
    ("nothing", {}, "names no condition"),
    ("a broken pattern", {"regex": "["}, "cannot be read"),
    ("a keyword that is not checked", {"json_schema": {"oneOf": []}}, "oneOf, which is not checked"),
    ("one further down", {"json_schema": {"items": {"$ref": "#"}}}, r"items uses \$ref"),
    ("an unknown type", {"json_schema": {"properties": {"a": {"type": "text"}}}}, "must be one of"),
    ("a broken pattern in a schema", {"json_schema": {"pattern": "("}}, "no regular expression"),
    ("properties that are a list", {"json_schema": {"properties": []}}, "must be a mapping"),
]


@pytest.mark.parametrize(("_", "expect", "says"), BAD, ids=[row[0] for row in BAD])
def test_bad_conditions_are_refused(_: str, expect: dict, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Expect.model_validate(expect)
