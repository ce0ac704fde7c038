"""Cases that the wire, the deadline or the status decides."""

from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault
from tests.model.cases import ERROR, FEW, Case, late, nothing, status
from tests.model.streams import DONE, PING, answered, delta, event, piece, role, stop, texts

FAULTS = [
    Case(says="no key", came=nothing(Fault.NO_KEY, sent_ns=None), is_=Outcome.AUTH),
    Case(says="a name that does not resolve", came=nothing(Fault.DNS, sent_ns=None), is_=Outcome.DNS),
    Case(says="a refused connection", came=nothing(Fault.CONNECT, sent_ns=None), is_=Outcome.CONNECT),
    Case(says="a proxy that refuses", came=nothing(Fault.PROXY, sent_ns=None), is_=Outcome.CONNECT),
    Case(says="a certificate that fails", came=nothing(Fault.TLS, sent_ns=None), is_=Outcome.TLS),
    Case(says="closed before any response", came=nothing(Fault.CLOSED), is_=Outcome.CONNECT),
    Case(says="not HTTP", came=nothing(Fault.PROTOCOL), is_=Outcome.INVALID_RESPONSE),
    Case(
        says="a deadline that passed unattended",
        came=nothing(Fault.UNATTENDED),
        is_=Outcome.CLIENT_OVERLOAD,
    ),
    Case(
        says="a deadline that passed unattended in the stream",
        came=answered(*FEW, complete=False, fault=Fault.UNATTENDED),
        is_=Outcome.CLIENT_OVERLOAD,
    ),
    Case(says="headers without end", came=nothing(Fault.TOO_LARGE), is_=Outcome.INVALID_RESPONSE),
    Case(says="cancelled before", came=nothing(Fault.CANCELLED), is_=Outcome.CANCELLED),
    Case(
        says="cancelled within a finished stream",
        came=answered(*FEW, piece(380, DONE), fault=Fault.CANCELLED),
        is_=Outcome.CANCELLED,
    ),
    Case(says="neither response nor fault", came=nothing(None), is_=Outcome.INTERNAL),
]
DEADLINES = [
    Case(
        says="deadline with no connection",
        came=late(status=None, sent_ns=None, send_done_ns=None),
        is_=Outcome.TIMEOUT_CONNECT,
    ),
    Case(says="deadline with no headers", came=late(status=None), is_=Outcome.TIMEOUT_FIRST_TOKEN),
    Case(says="deadline after headers alone", came=late(), is_=Outcome.TIMEOUT_FIRST_TOKEN),
    Case(says="deadline after a role", came=late(piece(5, role())), is_=Outcome.TIMEOUT_FIRST_TOKEN),
    Case(
        says="comments for ever are no progress to a first token",
        came=late(*(piece(1000 * i, PING) for i in range(1, 29))),
        is_=Outcome.TIMEOUT_FIRST_TOKEN,
    ),
    Case(
        says="one byte a second for ever before the first token",
        came=late(*(piece(1000 * i, "d") for i in range(1, 29))),
        is_=Outcome.TIMEOUT_FIRST_TOKEN,
    ),
    Case(
        says="silence longer than the stall timeout",
        came=late(*FEW, closed_ms=360 + 15_001),
        is_=Outcome.TIMEOUT_STALL,
    ),
    Case(
        says="silence as long as the stall timeout",
        came=late(*FEW, closed_ms=360 + 15_000),
        is_=Outcome.TIMEOUT_TOTAL,
    ),
    Case(
        says="pings and empty deltas in the silence are no progress",
        came=late(
            *FEW, *(piece(1000 * i, PING, "data: : keepalive\n\n", delta(content="")) for i in range(2, 29))
        ),
        is_=Outcome.TIMEOUT_STALL,
    ),
    Case(
        says="one token a second for ever",
        came=late(*texts(1000, 1000, 29)),
        is_=Outcome.TIMEOUT_TOTAL,
        detail="deadline: 29 token events so far",
    ),
    Case(
        says="finished, but the end never comes",
        came=late(*FEW, piece(380, stop()), closed_ms=20_000),
        is_=Outcome.TIMEOUT_STALL,
    ),
    Case(says="[DONE], but the body stays open", came=late(*FEW, piece(380, DONE)), is_=Outcome.OK),
    Case(
        says="an error object, but the body stays open",
        came=late(*FEW, piece(380, event(error=ERROR))),
        is_=Outcome.STREAM_ERROR,
    ),
    Case(
        says="a 503 whose body never ends",
        came=late(piece(5, "<h"), status=503, content_type="text/html"),
        is_=Outcome.HTTP_5XX,
    ),
    Case(says="no stream asked: no headers", came=late(status=None), stream=False, is_=Outcome.TIMEOUT_TOTAL),
    Case(
        says="no stream asked: half a body",
        came=late(piece(5, '{"cho'), content_type="application/json"),
        stream=False,
        is_=Outcome.TIMEOUT_TOTAL,
    ),
]
STATUSES = [
    Case(says="301", came=status(301), is_=Outcome.HTTP_3XX, detail="HTTP 301"),
    Case(says="307", came=status(307), is_=Outcome.HTTP_3XX),
    Case(says="400", came=status(400), is_=Outcome.HTTP_4XX),
    Case(
        says="401",
        came=status(401, event(error=ERROR | {"code": "invalid_api_key"})[6:]),
        is_=Outcome.AUTH,
        detail="HTTP 401 (invalid_api_key)",
    ),
    Case(says="403", came=status(403), is_=Outcome.AUTH),
    Case(
        says="404",
        came=status(404, '{"object": "error", "message": "no", "type": "NotFoundError", "code": null}'),
        is_=Outcome.HTTP_4XX,
        detail="HTTP 404 (NotFoundError)",
    ),
    Case(says="408", came=status(408), is_=Outcome.HTTP_4XX),
    Case(says="429", came=status(429), is_=Outcome.RATE_LIMITED),
    Case(says="500", came=status(500, "Internal Server Error", "text/plain"), is_=Outcome.HTTP_5XX),
    Case(says="502 with HTML", came=status(502, "<html>", "text/html"), is_=Outcome.HTTP_5XX),
    Case(says="503 cut", came=status(503, "<h", "text/html", fault=Fault.CLOSED), is_=Outcome.HTTP_5XX),
    Case(says="529", came=status(529), is_=Outcome.HTTP_5XX),
    Case(
        says="400 in Gemini's list",
        came=status(400, '[{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}]'),
        is_=Outcome.HTTP_4XX,
        detail="HTTP 400 (400)",
    ),
    Case(says="a status out of range", came=status(777), is_=Outcome.INVALID_RESPONSE),
    Case(
        says="an answer under a 500 is still a 500",
        came=answered(*FEW, piece(380, DONE), status=500),
        is_=Outcome.HTTP_5XX,
    ),
]
