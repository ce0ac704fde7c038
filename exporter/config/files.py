"""The configuration file itself, and the certificate files that it names."""

from collections.abc import Iterator
from pathlib import Path

from exporter.config.leaks import Location
from exporter.config.problem import ConfigError, Problem
from exporter.config.reading import read_bounded
from exporter.config.tree import Document

MAX_BYTES = 1_048_576
PIPE_S = 5.0
"""For a configuration out of a pipe, as in ``check <(decrypt config.yml)``; a reload must come back too."""


def read(path: Path) -> str:
    """Return the text of the configuration file.  Raises ConfigError."""
    source = str(path)
    try:
        # One byte more than allowed: a device or pipe without end is seen without reading it.
        data = read_bounded(path, MAX_BYTES + 1, wait_s=PIPE_S)
    except FileNotFoundError:
        raise ConfigError(source, [Problem(None, "", "no such file; check the path")]) from None
    except IsADirectoryError:
        raise ConfigError(source, [Problem(None, "", "is a directory; name the YAML file in it")]) from None
    except TimeoutError:
        text = "is a pipe that nobody writes to the end of; name a file, or write to the pipe and close it"
        raise ConfigError(source, [Problem(None, "", text)]) from None
    except OSError as error:
        why = error.strerror or "unknown error"
        raise ConfigError(
            source, [Problem(None, "", f"cannot be read: {why}; check owner and mode")]
        ) from None
    if len(data) > MAX_BYTES:
        text = "is larger than 1 MiB; split the targets over several exporters"
        raise ConfigError(source, [Problem(None, "", text)])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(source, [Problem(line, "", "is not UTF-8 text; save the file as UTF-8")]) from None


_PEM = {
    "ca_file": b"-----BEGIN CERTIFICATE-----",
    "cert_file": b"-----BEGIN CERTIFICATE-----",
    "key_file": b"PRIVATE KEY-----",
}


def certificates(document: Document, folder: Path) -> Iterator[Problem]:
    """Yield a problem for each file under ``tls`` that is not a readable file of what it must hold."""
    targets = document.plain.get("targets") if isinstance(document.plain, dict) else None
    for index, target in enumerate(targets if isinstance(targets, list) else ()):
        tls = target.get("tls") if isinstance(target, dict) else None
        for key, mark in _PEM.items():
            named = tls.get(key) if isinstance(tls, dict) else None
            if isinstance(named, str):
                at: Location = ("targets", index, "tls", key)
                text = _pem_text(folder / named, mark)
                if text:
                    yield document.problem(at, text)


def _pem_text(path: Path, mark: bytes) -> str:
    try:
        data = read_bounded(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a path"
        return f"cannot be read ({why}); a relative path counts from the folder of this file"
    if mark in data:
        return ""
    what = "private key" if mark.startswith(b"PRIVATE") else "certificate"
    return f"holds no PEM {what}; name a file that does"
