"""Everything a server can do to a chat request, as a script, and what it is called."""

from exporter.model.outcome import Outcome
from tests.fakes.scripted_server import (
    END,
    Close,
    Reset,
    Send,
    Stall,
    chunk,
    head,
    plain,
    streaming,
)
from tests.model.streams import DONE, PING, role, stop, text
from tests.probes.sockets import ERROR, FINISH, GOOD, NO_STREAM, SOON, TOKENS, WHOLE

ENDS = [
    ("a whole stream", GOOD, {}, Outcome.OK),
    (
        "every event in one write",
        [Send(head() + chunk(role() + text() * 4 + stop() + DONE) + END)],
        {},
        Outcome.OK,
    ),
    (
        "one write for each byte",
        [Send(head()), *(Send(chunk(c)) for c in text() + stop() + DONE), Send(END)],
        {},
        Outcome.OK,
    ),
    (
        "CRLF and comments",
        streaming(*((t, (PING + e).replace("\n", "\r\n")) for t, e in [*TOKENS, *FINISH])),
        {},
        Outcome.OK,
    ),
    ("an event of 1 MB", streaming((0.0, text("x" * 1_000_000)), *FINISH), {}, Outcome.OK),
    ("[DONE] without a last newline", streaming(*TOKENS, (0.0, DONE.rstrip())), {}, Outcome.OK),
    ("[DONE], then silence", streaming(*TOKENS, *FINISH, end=(Stall(),)), {}, Outcome.OK),
    (
        "a body that ends with the connection",
        [
            Send(
                b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                + (text() + stop() + DONE).encode()
            ),
            Close(),
        ],
        {},
        Outcome.OK,
    ),
    ("a JSON answer", plain(WHOLE), NO_STREAM, Outcome.OK),
    ("an error in the stream", streaming(*TOKENS, (0.0, ERROR), (0.0, DONE)), {}, Outcome.STREAM_ERROR),
    ("an event named error", streaming(*TOKENS, (0.0, "event: error\n" + ERROR)), {}, Outcome.STREAM_ERROR),
    ("an error, then silence", streaming(*TOKENS, (0.0, ERROR), end=(Stall(),)), SOON, Outcome.STREAM_ERROR),
    ("a JSON error with 200", plain(ERROR[6:].strip()), {}, Outcome.STREAM_ERROR),
    ("a clean truncation", streaming(*TOKENS), {}, Outcome.STREAM_TRUNCATED),
    ("a cut in order", streaming(*TOKENS, end=(Close(),)), {}, Outcome.STREAM_TRUNCATED),
    ("a reset", streaming(*TOKENS, end=(Send(b"", 0.05), Reset())), {}, Outcome.STREAM_TRUNCATED),
    (
        "a cut JSON answer",
        [Send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"), Close()],
        NO_STREAM,
        Outcome.STREAM_TRUNCATED,
    ),
    ("a proper end without a token", streaming((0.0, role()), (0.0, stop()), (0.0, DONE)), {}, Outcome.EMPTY),
    ("HTML with 200", plain("<html></html>", content_type="text/html"), {}, Outcome.INVALID_RESPONSE),
    (
        "a bad JSON line",
        streaming(*TOKENS, (0.0, "data: {bad\n\n"), (0.0, DONE)),
        {},
        Outcome.INVALID_RESPONSE,
    ),
    ("not HTTP at all", [Send(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), Close()], {}, Outcome.INVALID_RESPONSE),
    ("bad chunk framing", [Send(head() + chunk(text()) + b"zz\r\n"), Stall()], {}, Outcome.INVALID_RESPONSE),
    ("closed before any response", [Close()], {}, Outcome.CONNECT),
    (
        "a redirect",
        [Send(b"HTTP/1.1 307 R\r\nLocation: http://example.invalid/\r\nContent-Length: 0\r\n\r\n")],
        {},
        Outcome.HTTP_3XX,
    ),
    ("bad request", plain(ERROR[6:].strip(), "400 Bad Request"), {}, Outcome.HTTP_4XX),
    ("unauthorised", plain(ERROR[6:].strip(), "401 Unauthorized"), {}, Outcome.AUTH),
    ("forbidden", plain("no", "403 Forbidden", "text/plain"), {}, Outcome.AUTH),
    ("too many requests", plain(ERROR[6:].strip(), "429 Too Many Requests"), {}, Outcome.RATE_LIMITED),
    ("a server error", plain("oops", "500 Internal Server Error", "text/plain"), {}, Outcome.HTTP_5XX),
    ("unavailable", plain(ERROR[6:].strip(), "503 Service Unavailable"), {}, Outcome.HTTP_5XX),
    ("no headers", [Stall()], SOON, Outcome.TIMEOUT_FIRST_TOKEN),
    (
        "headers and a role, then pings for ever",
        [Send(head()), Send(chunk(role())), *[Send(chunk(PING), 0.05)] * 40],
        SOON,
        Outcome.TIMEOUT_FIRST_TOKEN,
    ),
    (
        "one byte after the other for ever",
        [Send(head()), *[Send(chunk("d"), 0.05)] * 40],
        SOON,
        Outcome.TIMEOUT_FIRST_TOKEN,
    ),
    (
        "silence after tokens",
        streaming((0.0, text()), (0.02, text()), end=(Stall(),)),
        SOON,
        Outcome.TIMEOUT_STALL,
    ),
    ("pings after tokens", streaming((0.0, text()), *[(0.05, PING)] * 40), SOON, Outcome.TIMEOUT_STALL),
    ("tokens for ever", streaming(*[(0.05, text())] * 40), SOON, Outcome.TIMEOUT_TOTAL),
    (
        "half a JSON answer",
        [Send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"), Stall()],
        NO_STREAM | SOON,
        Outcome.TIMEOUT_TOTAL,
    ),
]
