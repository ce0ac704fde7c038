"""Cases that a body in one piece decides."""

from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault
from tests.model.cases import ERROR, FEW, Case, json_body, whole
from tests.model.streams import DONE, answered, event, piece

BODIES = [
    Case(says="JSON asked", came=json_body(whole()), stream=False, is_=Outcome.OK),
    Case(says="JSON in two reads", came=json_body(whole()[:20], whole()[20:]), stream=False, is_=Outcome.OK),
    Case(says="JSON without finish_reason", came=json_body(whole(None)), stream=False, is_=Outcome.OK),
    Case(
        says="JSON under no type",
        came=answered(piece(5, whole()), content_type=None),
        stream=False,
        is_=Outcome.OK,
    ),
    Case(
        says="a +json type",
        came=answered(piece(5, whole()), content_type="application/problem+json"),
        stream=False,
        is_=Outcome.OK,
    ),
    Case(says="JSON without tokens", came=json_body(whole(content="")), stream=False, is_=Outcome.EMPTY),
    Case(says="JSON without choices", came=json_body('{"choices": []}'), stream=False, is_=Outcome.EMPTY),
    Case(
        says="JSON of another kind",
        came=json_body('{"status": "ok"}'),
        stream=False,
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(says="a JSON list", came=json_body("[1, 2]"), stream=False, is_=Outcome.INVALID_RESPONSE),
    Case(says="bad JSON", came=json_body('{"choices": ['), stream=False, is_=Outcome.INVALID_RESPONSE),
    Case(says="an empty JSON body", came=json_body(), stream=False, is_=Outcome.INVALID_RESPONSE),
    Case(
        says="finish_reason error in JSON",
        came=json_body(whole("error")),
        stream=False,
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="JSON error with 200",
        came=json_body(event(error=ERROR)[6:]),
        stream=False,
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="JSON error with 200 in place of a stream",
        came=json_body(event(error=ERROR)[6:]),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="JSON error in Gemini's list",
        came=json_body('[{"error": {"code": 503}}]'),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="JSON cut",
        came=json_body(whole()[:20], fault=Fault.CLOSED),
        stream=False,
        is_=Outcome.STREAM_TRUNCATED,
    ),
    Case(
        says="a whole answer in place of a stream",
        came=json_body(whole()),
        is_=Outcome.INVALID_RESPONSE,
        detail="got a JSON body, which was not asked for",
    ),
    Case(
        says="a stream in place of a whole answer",
        came=answered(*FEW, piece(380, DONE)),
        stream=False,
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="HTML in place of JSON",
        came=answered(piece(5, "<html>"), content_type="text/html"),
        stream=False,
        is_=Outcome.INVALID_RESPONSE,
    ),
]
