"""TLS over byte strings, so that the socket underneath keeps its receive stamps."""

import platform
import ssl
from pathlib import Path

import truststore

from exporter.model.target import TlsOptions

_READ_BYTES = 65_536


def make_context(options: TlsOptions) -> ssl.SSLContext:
    """Build a client context.  Raises OSError (ssl.SSLError included) when a file cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif options.ca_file is not None:
        context.load_verify_locations(cafile=options.ca_file)
    elif _openssl_finds_the_trust_store():
        context.set_default_verify_paths()
    else:
        # It looks in more places, and asks the system on macOS and Windows; but it reads the store again for
        # every connection, so it is not the first choice.
        context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if options.cert_file is not None:
        # Without an answer to its question OpenSSL would ask for a pass phrase on the terminal.
        context.load_cert_chain(options.cert_file, options.key_file, password=_no_pass_phrase)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _no_pass_phrase() -> str:
    raise OSError("the key of the client certificate has a pass phrase; use one without")


def _openssl_finds_the_trust_store() -> bool:
    if platform.system() in {"Darwin", "Windows"}:
        return False
    paths = ssl.get_default_verify_paths()
    return bool(paths.cafile or paths.capath)


class Contexts:
    """Contexts by options: building one reads the whole trust store.

    A file that changes on disk is read again.
    """

    def __init__(self) -> None:
        self._contexts: dict[TlsOptions, tuple[tuple[int, ...], ssl.SSLContext]] = {}

    def get(self, options: TlsOptions) -> ssl.SSLContext:
        """Return the context for these options; raises OSError as ``make_context``."""
        files = (options.ca_file, options.cert_file, options.key_file)
        changed_ns = tuple(Path(file).stat().st_mtime_ns for file in files if file is not None)
        known = self._contexts.get(options)
        if known is not None and known[0] == changed_ns:
            return known[1]
        context = make_context(options)
        self._contexts[options] = (changed_ns, context)
        return context


class TlsStream:
    """One TLS connection as two pipes of bytes."""

    def __init__(self, context: ssl.SSLContext, server_name: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name)
        self.ready = False
        self.ended = False
        """The peer sent close_notify."""

    def start(self) -> bytes:
        """Return the first bytes to send."""
        self._advance_handshake()
        return self._outgoing.read()

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Take received bytes; return (plain text, bytes to send).  Raises ssl.SSLError."""
        self._incoming.write(data)
        if not self.ready:
            self._advance_handshake()
        plain = self._decrypt() if self.ready else b""
        return plain, self._outgoing.read()

    def failure_alert(self) -> bytes:
        """Return the alert that tells the peer why the handshake failed."""
        return self._outgoing.read()

    def encrypt(self, data: bytes) -> bytes:
        """Return the bytes that carry ``data``."""
        view = memoryview(data)
        while view:
            view = view[self._tls.write(view) :]
        return self._outgoing.read()

    @property
    def version(self) -> str | None:
        """The protocol version, such as ``TLSv1.3``."""
        return self._tls.version()

    @property
    def certificate_expiry_unix_s(self) -> float | None:
        """When the server's certificate expires; None when it was not checked."""
        certificate = self._tls.getpeercert()
        expiry = certificate.get("notAfter") if certificate else None
        return float(ssl.cert_time_to_seconds(expiry)) if isinstance(expiry, str) else None

    def _advance_handshake(self) -> None:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return
        self.ready = True

    def _decrypt(self) -> bytes:
        pieces = []
        try:
            while piece := self._tls.read(_READ_BYTES):
                pieces.append(piece)
            self.ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        return b"".join(pieces)
