"""URLs that are probed through, and the address that is listened on."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from exporter.model.configuration import WebOptions

_HOST = re.compile(r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\.?")
_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings", "/models", "/responses")
_MAX_PORT = 65535


def base_url(text: str) -> str:
    """Return the URL without a final slash.  Raises ValueError, which never repeats the URL."""
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://, such as https://api.example.com/v1")
    parts = _split(text, "https://api.example.com/v1")
    if parts.query or parts.fragment or text.endswith(("?", "#")):
        raise ValueError("must end with the path; leave off everything from '?' or '#' on")
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            raise ValueError(f"leave off {endpoint}; the probe adds its own path")
    return text.rstrip("/")


def prometheus(text: str) -> str:
    """Return the URL of a Prometheus without a final slash.  Raises ValueError, which never repeats it."""
    example = "http://prometheus.example.com:9090"
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError(f"must begin with http:// or https://, such as {example}")
    parts = _split(text, example)
    if parts.query or parts.fragment or parts.path.rstrip("/").endswith("/api/v1/query"):
        raise ValueError(f"must be the server's address; /api/v1/query is added to it, such as {example}")
    return text.rstrip("/")


def proxy(text: str) -> str:
    """Return the URL of an HTTP proxy.  Raises ValueError, which never repeats the URL."""
    if not text.lower().startswith("http://"):
        raise ValueError(
            "must begin with http://, such as http://proxy.example.com:3128 (an HTTP CONNECT proxy)"
        )
    parts = _split(text, "http://proxy.example.com:3128")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError("must be http://HOST:PORT and nothing after it")
    return text.rstrip("/")


def host(text: str) -> str:
    """Return a host name.  Raises ValueError."""
    if not _HOST.fullmatch(text):
        raise ValueError("must be a host name, such as api.example.com")
    return text


def listen(text: str) -> WebOptions:
    """Parse ``HOST:PORT``; port 0 takes any free one.  Raises ValueError that says how to write it."""
    where, colon, digits = text.rpartition(":")
    if not colon or not re.fullmatch(r"[0-9]{1,5}", digits) or int(digits) > _MAX_PORT:
        raise ValueError(
            'must be HOST:PORT with a port of 0 to 65535, such as 127.0.0.1:9780 or "[::1]:9780"'
        )
    if not where or where == "*":
        raise ValueError(
            f'name the address; 0.0.0.0:{digits}, or "[::]:{digits}" with IPv6, listens on every one'
        )
    if where.startswith("[") and where.endswith("]"):
        try:
            return WebOptions(host=str(ipaddress.IPv6Address(where[1:-1])), port=int(digits))
        except ValueError:
            raise ValueError(
                'what stands in brackets must be an IPv6 address, such as "[::1]:9780"'
            ) from None
    if ":" in where:
        raise ValueError('an IPv6 address needs brackets and quotes, such as "[::1]:9780"')
    if re.fullmatch(r"[0-9.]+", where):
        try:
            ipaddress.IPv4Address(where)
        except ValueError:
            raise ValueError(
                "the host is not an IPv4 address; write four numbers, such as 127.0.0.1:9780"
            ) from None
    elif not _HOST.fullmatch(where):
        raise ValueError("the host must be an address or a host name, such as 127.0.0.1:9780")
    return WebOptions(host=where, port=int(digits))


def is_loopback(name: str) -> bool:
    """Tell whether a host is this machine, by its name or address alone."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _split(text: str, example: str) -> SplitResult:
    """Split a URL and refuse what no URL of ours may hold."""
    if not text.isprintable() or " " in text:
        raise ValueError(f"must be a URL without spaces, such as {example}")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(f"is not a URL: the host or port cannot be read; write it like {example}") from None
    if "@" in parts.netloc:
        raise ValueError(
            "holds a user name or password; leave them off, secrets come from the environment or a file"
        )
    if not parts.hostname or port == 0:
        raise ValueError(f"is not a full URL; write it like {example}")
    return parts
