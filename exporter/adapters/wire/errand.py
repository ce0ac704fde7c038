"""One request of a load worker on its way."""

from collections.abc import Sequence

from exporter.model.load_answer import Read
from exporter.model.transcript import Fault, Piece, StampSource, Transcript


class Errand:
    """One request on its way: what was sent when, and what came back so far."""

    def __init__(self, payload: bytes, due_ns: int, *, reserved: int = 0, asked: int = 1) -> None:
        self.payload = payload
        self.due_ns = due_ns
        self.reserved = reserved
        """Tokens that the request may use at most."""
        self.asked = max(1, asked)
        """Input tokens as estimated."""
        self.started_ns = self.sent_ns = self.over_ns = self.late_ns = 0
        self.sending_ns = 0
        """From ``sent_ns`` to when the kernel had taken the first bytes: how uncertain ``sent_ns`` is."""
        self.connected_ns: int | None = None
        self.tls_ns: int | None = None
        self.headers_ns: int | None = None
        self.complete_ns: int | None = None
        self.reads: list[Read] = []
        self.received = 0
        self.stamped = True
        self.reused = False
        self.status: int | None = None
        self.headers: Sequence[tuple[str, str]] = ()
        self.version: str | None = None
        self.fault: Fault | None = None
        self.detail = ""

    @property
    def is_event_stream(self) -> bool:
        """Tell whether the response says that it is one."""
        return any(
            name == "content-type" and value.lower().startswith("text/event-stream")
            for name, value in self.headers
        )

    def transcript(self) -> Transcript:
        """Return the exchange as the probes see one."""
        return Transcript(
            started_ns=self.started_ns,
            connected_ns=self.connected_ns,
            tls_done_ns=self.tls_ns,
            sent_ns=self.sent_ns or None,
            headers_ns=self.headers_ns,
            complete_ns=self.complete_ns,
            closed_ns=self.over_ns,
            status=self.status,
            http_version=self.version,
            headers=tuple(self.headers),
            body=tuple(Piece(at, earliest, at, data) for at, earliest, data in self.reads),
            reused=self.reused,
            stamps=StampSource.KERNEL if self.stamped else StampSource.USER,
            fault=self.fault,
            fault_detail=self.detail,
        )
