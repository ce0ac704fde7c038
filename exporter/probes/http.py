"""Probe kind ``http``: one request to any other inference API (KServe v2, Triton, TGI), checked as told."""

import json
import re
from string import Template
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.config import names
from exporter.model.answer import Answer, refused
from exporter.model.clocks import Clock
from exporter.model.document import whole_at
from exporter.model.json_path import JsonPathError, found_at, steps
from exporter.model.json_text import parsed
from exporter.model.outcome import Outcome
from exporter.model.request import PlainRequest
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.model.transcript import Transcript
from exporter.model.verdict import Verdict, judge
from exporter.probes import fetch
from exporter.probes.base import Doors, ProbeKind, mine, off_the_loop, result_of
from exporter.probes.expect import MAX_SEARCHED_CHARACTERS, check_regex

_Text = Annotated[str, Field(min_length=1)]


class Value(BaseModel):
    """What must stand at one place of a JSON body; there at all where nothing more is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: _Text
    """Such as ``outputs[0].shape[1]``."""
    equals: object = None
    regex: _Text | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        steps(self.path)
        check_regex(self.regex)
        return self


class Params(BaseModel):
    """What is sent and how a good answer looks.

    In ``body`` ``${model}`` is the target's model and ``${nonce}`` a random word.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Literal["GET", "POST", "PUT"] = "GET"
    path: Annotated[str, Field(pattern=r"^/[!-~]*$")] = "/"
    """Added to the target's base_url; ``${model}`` is the target's model."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent as they are; secrets go into the target's own headers."""
    body: str | dict[str, object] | list[object] | None = None
    """Text as it is, or a mapping or list as JSON."""
    status: Annotated[tuple[Annotated[int, Field(ge=200, le=299)], ...], Field(min_length=1)] | None = None
    """Good statuses; every 2xx where it is not given."""
    regex: _Text | None = None
    """What the body must match somewhere."""
    values: tuple[Value, ...] = ()
    """What must stand where in the JSON body."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, value in self.headers.items():
            if name.lower() != "content-type":
                names.header(name)
            if not value.isprintable():
                raise ValueError("values of headers must be printable texts of one line")
            if names.is_secret_header(name):
                raise ValueError(
                    f"the header {name} is a secret; write it under headers of the target, with value_env or "
                    "value_file"
                )
        if self.body is not None and self.method == "GET":
            raise ValueError("a GET request has no body; write method: POST")
        check_regex(self.regex)
        return self


def request_of(model: str, params: Params, nonce: str) -> PlainRequest:
    """Return the request."""
    headers = tuple(params.headers.items())
    content = b""
    if params.body is not None:
        is_text = isinstance(params.body, str)
        # Filled in inside JSON strings, so that a model's name cannot break out of its own.
        filled = {"model": model, "nonce": nonce}
        if not is_text:
            filled = {name: json.dumps(value)[1:-1] for name, value in filled.items()}
        text = str(params.body) if is_text else json.dumps(params.body)
        content = Template(text).safe_substitute(filled).encode()
        if not any(name.lower() == "content-type" for name in params.headers):
            headers += (("Content-Type", "text/plain" if is_text else "application/json"),)
    path = Template(params.path).safe_substitute(model=model)
    return PlainRequest(method=params.method, path=path, headers=headers, content=content)


def read(transcript: Transcript) -> Answer:
    """Read any body as good that came whole; what it must hold is checked after."""
    if (early := refused(transcript)) is not None:
        return early
    return Answer(tokens=() if transcript.complete_ns is None else (whole_at(transcript.complete_ns),))


def held_against(params: Params, verdict: Verdict, transcript: Transcript) -> Verdict:
    """Return the verdict, or ``content_mismatch`` where the answer is not what it must be."""
    if verdict.outcome is not Outcome.OK:
        return verdict
    said = _mismatch(params, transcript)
    return verdict if said is None else Verdict(Outcome.CONTENT_MISMATCH, said)


def _mismatch(params: Params, transcript: Transcript) -> str | None:
    if params.status is not None and transcript.status not in params.status:
        return f"status {transcript.status} is not among those expected"
    content = transcript.content
    text = content[:MAX_SEARCHED_CHARACTERS].decode(errors="replace")
    if params.regex is not None and not re.search(params.regex, text):
        return "regex: the body does not match"
    body = parsed(content) if params.values else None
    for value in params.values:
        try:
            found = found_at(body, value.path)
        except JsonPathError as error:
            return f"values: {error}"
        if "equals" in value.model_fields_set and found != value.equals:
            return f"values: {value.path} has another value"
        if value.regex is not None and not re.search(value.regex, str(found)[:MAX_SEARCHED_CHARACTERS]):
            return f"values: {value.path} does not match"
    return None


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: end to end alone."""
    mine(params, Params, "http")
    return fetch.CLOCKS


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the request once, never again, and check what came back."""
    params = mine(spec.params, Params, "http")
    transcript = await doors.api.send(target, spec, request_of(target.model, params, doors.nonce()))
    finished_unix_s = doors.unix_s()

    def checked() -> ProbeResult:
        answer = read(transcript)
        verdict = judge(transcript, answer, wants_stream=False, stall_timeout_s=spec.stall_timeout_s)
        verdict = held_against(params, verdict, transcript)
        return result_of(target, spec, transcript, answer, verdict, finished_unix_s=finished_unix_s)

    return await off_the_loop(transcript, checked)


KIND = ProbeKind(name="http", params=Params, clocks=clocks_of, run=run)
