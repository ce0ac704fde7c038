"""API keys and other secret headers, read at every use so that a rotated one is picked up."""

import os
from collections.abc import Mapping
from pathlib import Path

from exporter.config.reading import read_bounded
from exporter.model.target import Header, KeySource

MAX_KEY_BYTES = 16_384
"""More than any server takes as a header; a device without end is cut here."""


class KeyUnavailable(Exception):  # noqa: N818 - it is a state of the configuration, named as such
    """The configured key cannot be had; says which variable or file, never what is in it."""


def read_key(source: KeySource, environ: Mapping[str, str] = os.environ) -> str:
    """Return the key without surrounding white space.  Raises KeyUnavailable."""
    return _secret(source, environ, "the API key")


def read_header(header: Header, environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Return name and value of a header of the target's own.  Raises KeyUnavailable."""
    if header.source is None:
        return header.name, header.value
    return header.name, _secret(header.source, environ, f"the header {header.name}")


def _secret(source: KeySource, environ: Mapping[str, str], what: str) -> str:
    if source.env is not None:
        where, raw = f"environment variable {source.env}", environ.get(source.env)
        if raw is None:
            raise KeyUnavailable(f"{where} is not set; set it to {what} and restart")
    else:
        where, raw = f"key file {source.file}", _read(source.file or "")
    key = raw.strip()
    if not key:
        raise KeyUnavailable(f"{where} is empty; put {what} in it")
    if not key.isascii() or not key.isprintable():
        raise KeyUnavailable(
            f"{where} holds characters that no HTTP header can carry; keep one line of ASCII"
        )
    return key


def _read(path: str) -> str:
    try:
        return read_bounded(Path(path), MAX_KEY_BYTES).decode()
    except OSError as error:
        raise KeyUnavailable(f"key file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise KeyUnavailable(f"key file {path} is not text") from None
