"""Cases that the bytes of an event stream decide."""

from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault
from tests.model.cases import ERROR, FEW, KEY, Case
from tests.model.streams import DONE, PING, answered, delta, event, piece, role, stop, text, usage_event

STREAMS = [
    Case(says="[DONE] and finish_reason", came=answered(*FEW, piece(380, stop(), DONE)), is_=Outcome.OK),
    Case(says="[DONE] alone", came=answered(*FEW, piece(380, DONE)), is_=Outcome.OK, detail=""),
    Case(says="finish_reason alone", came=answered(*FEW, piece(380, stop())), is_=Outcome.OK),
    Case(
        says="finish_reason, then usage, without [DONE]",
        came=answered(*FEW, piece(380, stop()), piece(390, delta(), usage_event(4))),
        is_=Outcome.OK,
    ),
    Case(says="length", came=answered(*FEW, piece(380, stop("length"), DONE)), is_=Outcome.OK),
    Case(
        says="content_filter", came=answered(*FEW, piece(380, stop("content_filter"), DONE)), is_=Outcome.OK
    ),
    Case(says="tool_calls", came=answered(*FEW, piece(380, stop("tool_calls"), DONE)), is_=Outcome.OK),
    Case(
        says="error null in each chunk",
        came=answered(piece(9, event(error=None), text(), DONE)),
        is_=Outcome.OK,
    ),
    Case(
        says="a type with a charset",
        came=answered(*FEW, piece(9, DONE), content_type="text/event-stream; charset=utf-8"),
        is_=Outcome.OK,
    ),
    Case(
        says="a type in capitals",
        came=answered(*FEW, piece(9, DONE), content_type="Text/Event-Stream"),
        is_=Outcome.OK,
    ),
    Case(says="no type at all", came=answered(*FEW, piece(9, DONE), content_type=None), is_=Outcome.OK),
    Case(
        says="bytes that are no UTF-8 within a token",
        came=answered(piece(5, text("@").encode().replace(b"@", b"\xe2\x82"), DONE)),
        is_=Outcome.OK,
    ),
    Case(
        says="finish_reason error",
        came=answered(*FEW, piece(380, stop("error"), DONE)),
        is_=Outcome.STREAM_ERROR,
        detail="finish_reason error",
    ),
    Case(
        says="finish_reason abort", came=answered(*FEW, piece(380, stop("abort"))), is_=Outcome.STREAM_ERROR
    ),
    Case(
        says="an error object after tokens",
        came=answered(*FEW, piece(380, event(error=ERROR), DONE)),
        is_=Outcome.STREAM_ERROR,
        detail="the server sent an error object (model_overloaded)",
    ),
    Case(
        says="an error object first", came=answered(piece(380, event(error=ERROR))), is_=Outcome.STREAM_ERROR
    ),
    Case(
        says="an error that is a string",
        came=answered(piece(380, event(error="boom"))),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="an error with a finish_reason",
        came=answered(
            *FEW,
            piece(380, event(error=ERROR, choices=[{"delta": {"content": ""}, "finish_reason": "error"}])),
        ),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="an event named error",
        came=answered(*FEW, piece(380, "event: error\n" + event(error=ERROR))),
        is_=Outcome.STREAM_ERROR,
        detail="the server sent an error object (model_overloaded)",
    ),
    Case(
        says="an event named error with a bare object",
        came=answered(*FEW, piece(380, "event: error\n" + event(**ERROR))),
        is_=Outcome.STREAM_ERROR,
        detail="the server sent an error object (model_overloaded)",
    ),
    Case(
        says="an event named error with text",
        came=answered(*FEW, piece(380, "event: error\ndata: boom\n\n")),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="vLLM's older error object",
        came=answered(*FEW, piece(380, event(object="error", type="InternalServerError"))),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="an error, then a cut",
        came=answered(*FEW, piece(380, event(error=ERROR)), fault=Fault.CLOSED),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="an error without a last newline",
        came=answered(*FEW, piece(380, event(error=ERROR).rstrip())),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="an error after [DONE] is not read",
        came=answered(*FEW, piece(380, DONE, event(error=ERROR))),
        is_=Outcome.OK,
    ),
    Case(says="clean end with tokens", came=answered(*FEW), is_=Outcome.STREAM_TRUNCATED),
    Case(says="clean end without tokens", came=answered(piece(1, role())), is_=Outcome.STREAM_TRUNCATED),
    Case(says="an empty body", came=answered(), is_=Outcome.STREAM_TRUNCATED),
    Case(says="comments alone", came=answered(piece(1, PING)), is_=Outcome.STREAM_TRUNCATED),
    Case(
        says="usage alone after tokens",
        came=answered(*FEW, piece(380, usage_event(4))),
        is_=Outcome.STREAM_TRUNCATED,
    ),
    Case(says="cut within tokens", came=answered(*FEW, fault=Fault.CLOSED), is_=Outcome.STREAM_TRUNCATED),
    Case(
        says="cut after finish_reason",
        came=answered(*FEW, piece(380, stop()), fault=Fault.CLOSED),
        is_=Outcome.STREAM_TRUNCATED,
    ),
    Case(says="cut after [DONE]", came=answered(*FEW, piece(380, DONE), fault=Fault.CLOSED), is_=Outcome.OK),
    Case(
        says="cut before the first token",
        came=answered(piece(1, role()), fault=Fault.CLOSED),
        is_=Outcome.STREAM_TRUNCATED,
    ),
    Case(says="[DONE] without tokens", came=answered(piece(1, role(), DONE)), is_=Outcome.EMPTY),
    Case(says="finish_reason without tokens", came=answered(piece(1, role(), stop())), is_=Outcome.EMPTY),
    Case(
        says="bad JSON line",
        came=answered(*FEW, piece(380, 'data: {"choices": [\n\n', DONE)),
        is_=Outcome.INVALID_RESPONSE,
        detail="event 5 of the stream is not a JSON object",
    ),
    Case(
        says="JSON that is no object",
        came=answered(piece(380, "data: 7\n\n", DONE)),
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="JSON nested past all reason",
        came=answered(piece(380, "data: " + "[" * 200_000 + "\n\n", DONE)),
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="half an event, then a cut",
        came=answered(*FEW, piece(380, 'data: {"cho'), fault=Fault.CLOSED),
        is_=Outcome.STREAM_TRUNCATED,
    ),
    Case(
        says="half an event, then a clean end",
        came=answered(*FEW, piece(380, 'data: {"cho')),
        is_=Outcome.STREAM_TRUNCATED,
    ),
    Case(
        says="bad framing within tokens",
        came=answered(*FEW, fault=Fault.PROTOCOL),
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="over the byte bound", came=answered(*FEW, fault=Fault.TOO_LARGE), is_=Outcome.INVALID_RESPONSE
    ),
    Case(
        says="HTML with 200",
        came=answered(piece(5, "<html>maintenance</html>"), content_type="text/html"),
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="HTML under no type",
        came=answered(piece(5, "<html>maintenance</html>"), content_type=None),
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="an unknown type",
        came=answered(piece(5, "x"), content_type=f"{KEY}/x"),
        is_=Outcome.INVALID_RESPONSE,
    ),
    Case(
        says="gzip unasked",
        came=answered(
            piece(5, b"\x1f\x8b"),
            headers=(("content-type", "text/event-stream"), ("content-encoding", "gzip")),
        ),
        is_=Outcome.INVALID_RESPONSE,
        detail="the body is compressed, which was not asked for",
    ),
    Case(
        says="a bare error under the type of a stream",
        came=answered(piece(5, event(error=ERROR)[6:])),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="HTML under the type of a stream",
        came=answered(piece(5, "\n<html>")),
        is_=Outcome.INVALID_RESPONSE,
        detail="the body is text/html, not a chat completion",
    ),
    Case(says="204", came=answered(status=204, content_type=None), is_=Outcome.STREAM_TRUNCATED),
]
