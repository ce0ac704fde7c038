"""Which proxy, if any, a request goes through."""

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from exporter.adapters.wire.faults import WireError
from exporter.adapters.wire.request import Origin
from exporter.model.transcript import Fault


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy; ``authorization`` is the value of ``Proxy-Authorization``, if it wants one."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that the proxy itself reads."""
        return () if self.authorization is None else (("Proxy-Authorization", self.authorization),)


def choose_proxy(origin: Origin, configured: str | None, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy for an origin: the configured one, else what the environment says.

    Loopback is never proxied.  ``NO_PROXY`` holds against the environment's proxy only.  Raises
    WireError(PROXY) for a proxy URL that cannot be used.
    """
    if _is_loopback(origin.host):
        return None
    url = configured
    if url is None:
        url = _variable(environ, f"{origin.scheme}_proxy")
        if url is None or _is_exempt(origin, _variable(environ, "no_proxy") or ""):
            return None
    return _parse(url)


def _variable(environ: Mapping[str, str], name: str) -> str | None:
    """Return a variable in lower case, else in upper case; empty means unset.

    A CGI server sets ``HTTP_PROXY`` from a request header, hence the exception that every client makes.
    """
    value = environ.get(name)
    if not value and not (name == "http_proxy" and "REQUEST_METHOD" in environ):
        value = environ.get(name.upper())
    return value or None


def _parse(url: str) -> Proxy:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port or 80
    except ValueError:
        raise WireError(Fault.PROXY, "the proxy's URL cannot be read; write http://host:port") from None
    if parts.scheme != "http" or not host:
        raise WireError(Fault.PROXY, f"a proxy must be http://host:port, not {parts.scheme}://")
    if parts.username is None:
        return Proxy(host, port)
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Proxy(host, port, "Basic " + base64.b64encode(credentials.encode()).decode())


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _as_address(host)
    return address is not None and address.is_loopback


def _as_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_exempt(origin: Origin, no_proxy: str) -> bool:
    return any(_matches(origin, entry) for entry in no_proxy.lower().replace(",", " ").split())


def _matches(origin: Origin, entry: str) -> bool:
    """Match ``*``, a host with all below it, ``host:port``, an address or a network such as 10.0.0.0/8."""
    if entry == "*":
        return True
    address = _as_address(origin.host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(entry.strip("[]"), strict=False)
        except ValueError:
            return entry in {origin.authority, origin.host_in_url}
    host, _, port = entry.partition(":")
    if port and port != str(origin.port):
        return False
    suffix = host.removeprefix("*").removeprefix(".")
    name = origin.host.lower().rstrip(".")
    return bool(suffix) and (name == suffix or name.endswith("." + suffix))
