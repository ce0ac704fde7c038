"""A transcript read as one JSON document, for APIs that generate nothing piece by piece."""

from collections.abc import Callable
from dataclasses import dataclass

from exporter.model.answer import Answer, TokenEvent, describe, is_json, media_type, refused
from exporter.model.delta import named_model, read_error, read_usage
from exporter.model.json_text import parsed
from exporter.model.server_timing import timing_in
from exporter.model.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a document is not what was asked for: one line for people, of our own words."""

    text: str


def read_document(transcript: Transcript, check: Callable[[dict[str, object]], Wrong | None]) -> Answer:
    """Read a JSON object; ``check`` says what is wrong with one that came whole.

    A good one counts as one token at the end of the message, so that it has an end-to-end time.
    """
    if (early := refused(transcript)) is not None:
        return early
    content = transcript.content
    media = media_type(transcript, content)
    if not is_json(media):
        return Answer(malformed=f"the body is {describe(media)}, not JSON")
    if transcript.complete_ns is None:
        return Answer()
    return _read(parsed(content), transcript.complete_ns, check)


def _read(body: object, at_ns: int, check: Callable[[dict[str, object]], Wrong | None]) -> Answer:
    if (error := read_error(body)) is not None:
        return Answer(error=error)
    if not isinstance(body, dict):
        return Answer(malformed="the body is not a JSON object")
    if (wrong := check(body)) is not None:
        return Answer(malformed=wrong.text)
    return Answer(
        tokens=(whole_at(at_ns),),
        usage=read_usage(body.get("usage")),
        model=named_model(body),
        server=timing_in(body),
    )


def whole_at(at_ns: int) -> TokenEvent:
    """Return the stand-in for a document that came whole at that time."""
    return TokenEvent(at_ns, at_ns, frozenset())
