"""HTTP/1.1 responses out of byte strings cut anywhere."""

import httptools

from exporter.adapters.wire.faults import WireError, reason
from exporter.model.transcript import Fault

_NO_BODY = frozenset({204, 304})


class ResponseParser:
    """Takes the bytes of one response in order; interim (1xx) responses are passed over."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._framed = False
        self._in_headers = False
        self.status: int | None = None
        self.version: str | None = None
        self.headers: list[tuple[str, str]] = []
        self.headers_complete = False
        self.complete = False
        self.reusable = False
        """The server will take another request on this connection."""

    def feed(self, data: bytes) -> None:
        """Parse the next bytes; those after the message make the connection unusable.

        Raises WireError(PROTOCOL) when it is not HTTP; what came before that is kept.
        """
        if self.complete:
            self.reusable = self.reusable and not data
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise WireError(Fault.PROTOCOL, "the server switched protocols unasked") from None
        except httptools.HttpParserError as error:
            self._refuse(error)

    def reset(self) -> None:
        """Expect the next response on a connection that is kept; the parser itself is not made anew.

        It and this object hold each other, so one for each response is garbage that only the cycle collector
        finds.
        """
        self._body.clear()
        self.headers = []
        self._framed = self._in_headers = False
        self.status = self.version = None
        self.headers_complete = self.complete = self.reusable = False

    def take_body(self) -> bytes:
        """Return the body bytes that were parsed since the last call."""
        if not self._body:
            return b""
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        return body

    def end(self) -> bool:
        """Learn that the connection ended; True when that completes the message."""
        if self.headers_complete and not self.complete and not self._framed:
            self.complete = True
        return self.complete

    def _refuse(self, error: httptools.HttpParserError) -> None:
        """Raise, unless what cannot be parsed came after the message."""
        if not self.complete:
            raise WireError(Fault.PROTOCOL, f"not an HTTP/1 response: {reason(error)}") from None
        self.reusable = False

    def on_message_begin(self) -> None:
        """Called by httptools before each message, interim ones included."""
        if self.complete:
            self.reusable = False
            return
        self.headers.clear()
        self._framed = False
        self._in_headers = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by httptools for each header, and for each trailer after a chunked body."""
        if not self._in_headers:
            return
        key = name.decode("latin-1").lower()
        self._framed = self._framed or key in {"content-length", "transfer-encoding"}
        self.headers.append((key, value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Called by httptools after the last header."""
        if not self._in_headers:
            return
        self._in_headers = False
        status = self._parser.get_status_code()
        if status < 200:
            return
        self.status = status
        self.version = self._parser.get_http_version()
        self.headers_complete = True
        self._framed = self._framed or status in _NO_BODY

    def on_body(self, body: bytes) -> None:
        """Called by httptools for each stretch of the body."""
        if not self.complete:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """Called by httptools at the end of each message, interim ones included."""
        if self.headers_complete and not self.complete:
            self.complete = True
            self.reusable = self._parser.should_keep_alive()
