"""What is to be sent, and where."""

from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote, urlsplit

from exporter.model.target import IpFamily, TlsOptions

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
"""4,096 tokens at 2 kB each.  Reading so much in tiny events takes 2.5 s of CPU and 185 MB; four times as
much took 10 s and 688 MB.
"""
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme (``http`` or ``https``), host (an IPv6 address without brackets) and port."""

    scheme: str
    host: str
    port: int

    @property
    def host_in_url(self) -> str:
        """The host as it is written in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """``host:port``."""
        return f"{self.host_in_url}:{self.port}"

    @property
    def host_header(self) -> str:
        """The authority without the scheme's own port."""
        return self.host_in_url if self.port == _DEFAULT_PORTS[self.scheme] else self.authority


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """One request.  ``Host`` and ``Content-Length`` are added where the headers lack them."""

    method: str
    origin: Origin
    path: str
    """Path and query, percent-encoded."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    timeout_s: float
    """Total deadline, from the call to the last byte."""
    tls: TlsOptions = TlsOptions()
    proxy: str | None = field(default=None, repr=False)
    """A proxy's URL; None means: as the environment says."""
    ip: IpFamily | None = None
    """Which addresses of the host are tried first."""
    fresh: bool = False
    """Open a connection for this request and close it afterwards."""
    max_response_bytes: int = MAX_RESPONSE_BYTES
    """Bytes of memory that the response may take, the bookkeeping of each read included."""


@lru_cache(maxsize=1024)
def split_url(url: str) -> tuple[Origin, str]:
    """Return where a URL points and its path with the query.

    Raises ValueError for anything but http and https, for a missing host and for a bad port.
    """
    parts = urlsplit(url)
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is not an http:// or https:// URL with a host")
    host = parts.hostname if parts.hostname.isascii() else parts.hostname.encode("idna").decode()
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?") if parts.query else ""
    return Origin(parts.scheme, host, parts.port or _DEFAULT_PORTS[parts.scheme]), path + query


def encode(request: WireRequest, *, absolute_form: bool, extra: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Return the request as bytes; ``absolute_form`` is what a proxy for plain http wants.

    Raises ValueError when a header or the path would break the framing.
    """
    target = f"http://{request.origin.host_header}{request.path}" if absolute_form else request.path
    names = {name.lower() for name, _ in request.headers}
    headers = [*request.headers, *extra]
    if "host" not in names:
        headers.insert(0, ("Host", request.origin.host_header))
    if "content-length" not in names and (request.body or request.method in {"POST", "PUT", "PATCH"}):
        headers.append(("Content-Length", str(len(request.body))))
    lines = [f"{request.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    head = "\r\n".join(lines)
    if head.count("\n") != len(headers) or head.count("\r") != len(headers) or "\0" in head:
        raise ValueError("a request header holds a line break")
    if " " in target:
        raise ValueError(f"the path {request.path!r} holds a space")
    return head.encode("latin-1") + b"\r\n\r\n" + request.body
