"""A transcript in the making."""

from collections.abc import Callable
from dataclasses import dataclass, field

from exporter.adapters.wire.connection import Connection
from exporter.adapters.wire.stamped_socket import Record
from exporter.model.transcript import Fault, Piece, StampSource, Transcript


@dataclass(slots=True)
class Draft:
    """What is known of an exchange so far; see ``Transcript`` for the fields."""

    started_ns: int
    resolved_ns: int | None = None
    connected_ns: int | None = None
    tls_done_ns: int | None = None
    sent_ns: int | None = None
    sent_by_ns: int | None = None
    send_done_ns: int | None = None
    headers_ns: int | None = None
    complete_ns: int | None = None
    status: int | None = None
    http_version: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: list[Piece] = field(default_factory=list)
    on_piece: Callable[[Piece], None] | None = None
    """Told of each piece of the body as it comes; must not raise or block."""
    lateness_ns: list[int] = field(default_factory=list)
    reads: int = 0
    answered: bool = False
    """The stream said ``[DONE]``; only the end of the HTTP message was still waited for."""
    reused: bool = False
    peer: str | None = None
    family: str | None = None
    tls_version: str | None = None
    certificate_expiry_unix_s: float | None = None

    def note_connection(self, connection: Connection) -> None:
        """Keep what is worth knowing of the connection used."""
        self.peer = connection.peer
        self.family = connection.family
        self.tls_version = connection.tls_version
        self.certificate_expiry_unix_s = connection.certificate_expiry_unix_s

    def note_piece(self, piece: Piece) -> None:
        """Keep a piece of the body, and tell whoever wants to know at once."""
        self.body.append(piece)
        if self.on_piece is not None:
            self.on_piece(piece)

    def note_read(self, record: Record) -> None:
        """Count a read and how late it was."""
        self.reads += 1
        if record.kernel:
            self.lateness_ns.append(record.read_ns - record.at_ns)

    def finish(self, closed_ns: int, fault: Fault | None = None, detail: str = "") -> Transcript:
        """Return the transcript.  Its stamps are the kernel's only if every one of them is."""
        kernel = self.reads > 0 and len(self.lateness_ns) == self.reads
        return Transcript(
            started_ns=self.started_ns,
            resolved_ns=self.resolved_ns,
            connected_ns=self.connected_ns,
            tls_done_ns=self.tls_done_ns,
            sent_ns=self.sent_ns,
            sent_by_ns=self.sent_by_ns,
            send_done_ns=self.send_done_ns,
            headers_ns=self.headers_ns,
            complete_ns=self.complete_ns,
            closed_ns=closed_ns,
            status=self.status,
            http_version=self.http_version,
            headers=self.headers,
            body=tuple(self.body),
            reused=self.reused,
            peer=self.peer,
            family=self.family,
            tls_version=self.tls_version,
            certificate_expiry_unix_s=self.certificate_expiry_unix_s,
            stamps=StampSource.KERNEL if kernel else StampSource.USER,
            lateness_ns=tuple(self.lateness_ns),
            fault=fault,
            fault_detail=detail,
        )
