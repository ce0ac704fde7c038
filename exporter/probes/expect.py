"""Canaries: what a good answer must say."""

import re
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.model.answer import Answer
from exporter.model.json_schema import unsupported, violation
from exporter.model.json_text import parsed
from exporter.model.outcome import Outcome
from exporter.model.timeline import tokens_of
from exporter.model.verdict import Verdict

MAX_SEARCHED_CHARACTERS = 65_536
"""A regular expression sees no more of an answer than this."""

_Text = Annotated[str, Field(min_length=1)]


class Expect(BaseModel):
    """What the answer must be like; every condition that is given must hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contains: _Text | None = None
    regex: _Text | None = None
    equals: _Text | None = None
    """Compared without white space at either end."""
    json_schema: dict[str, object] | None = None
    min_tokens: Annotated[int, Field(ge=1)] | None = None
    finish_reason: _Text | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("expect names no condition; write one, such as {contains: Paris}")
        check_regex(self.regex)
        if self.json_schema is not None and (said := unsupported(self.json_schema)):
            raise ValueError(said)
        return self


def check_regex(pattern: str | None) -> None:
    """Raise ValueError for what is no regular expression."""
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"regex cannot be read: {error}") from None


def held_against(expect: Expect | None, verdict: Verdict, answer: Answer) -> Verdict:
    """Return the verdict, or ``content_mismatch`` for a good answer that is not what was expected.

    The detail names the condition, never the answer.
    """
    if expect is None or verdict.outcome is not Outcome.OK:
        return verdict
    said = _mismatch(expect, answer)
    return verdict if said is None else Verdict(Outcome.CONTENT_MISMATCH, said)


def _mismatch(expect: Expect, answer: Answer) -> str | None:
    tokens = tokens_of(answer).output or 0
    broken = (
        (
            expect.contains is not None and expect.contains not in answer.text,
            "expect.contains: the answer does not contain the text",
        ),
        (
            expect.regex is not None and not re.search(expect.regex, answer.text[:MAX_SEARCHED_CHARACTERS]),
            "expect.regex: the answer does not match",
        ),
        (
            expect.equals is not None and answer.text.strip() != expect.equals.strip(),
            "expect.equals: the answer is another one",
        ),
        (
            expect.min_tokens is not None and tokens < expect.min_tokens,
            f"expect.min_tokens: {tokens} output tokens",
        ),
        (
            expect.finish_reason is not None and answer.finish != expect.finish_reason,
            "expect.finish_reason: it ended for another reason",
        ),
    )
    said = next((text for is_broken, text in broken if is_broken), None)
    return said or _unlike_schema(expect.json_schema, answer.text)


def _unlike_schema(schema: dict[str, object] | None, text: str) -> str | None:
    if schema is None:
        return None
    value = parsed(text.encode())
    if value is None and text.strip() != "null":
        return "expect.json_schema: the answer is not JSON"
    said = violation(value, schema)
    return None if said is None else f"expect.json_schema: {said}"
