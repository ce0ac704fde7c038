"""Which names may become label values, label names and environment variables."""

import re
from pathlib import Path

from exporter.config.leaks import holds_key, looks_random
from exporter.model.device import is_device

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_LABEL = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,62}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_GPU = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{7,79}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential|signature", re.IGNORECASE)
_WIRES_OWN = frozenset({"host", "content-length", "content-type", "connection", "transfer-encoding"}) | {
    "accept-encoding",
    "expect",
    "upgrade",
}
_MAX_TEXT = 200
_MAX_PATH = 4095

OWN_LABELS = frozenset({"target", "model", "probe", "kind", "host", "api", "provider"})
"""Set by the exporter itself."""
PROMETHEUS_LABELS = frozenset(
    {"instance", "job", "le", "quantile", "service", "endpoint", "namespace", "pod", "container", "node"}
    | {"region", "zone", "cluster", "env"}
)
"""Set by Prometheus or its service discovery; ours would come back as ``exported_...``."""


def name(text: str) -> str:
    """Return the name of a target, probe or suite.  Raises ValueError."""
    if not _NAME.fullmatch(text):
        raise ValueError(
            "becomes a label: 1 to 63 letters, digits, '.', '_' or '-', beginning with a letter or digit"
        )
    return text


def printable(text: str) -> str:
    """Return text of one line that can be a label value.  Raises ValueError."""
    if not text or text != text.strip() or not text.isprintable() or len(text) > _MAX_TEXT:
        raise ValueError(f"must be 1 to {_MAX_TEXT} printable characters without spaces at either end")
    return text


def path(text: str) -> str:
    """Return the path of a file.  Raises ValueError."""
    if not text or not text.isprintable() or len(text) > _MAX_PATH:
        raise ValueError(f"must be the path of a file: 1 to {_MAX_PATH} printable characters")
    return text


def pattern(text: str) -> str:
    """Return a pattern of file names.  Raises ValueError."""
    parts = Path(path(text)).parts
    names = parts[1:] if Path(text).is_absolute() else parts
    if not names or any("**" in each and each != "**" for each in names):
        raise ValueError("must be a pattern of files, such as targets.d/*.yml; ** stands alone between two /")
    return text


def label(text: str) -> str:
    """Return the name of an extra label.  Raises ValueError that says why it cannot be one."""
    if text in OWN_LABELS:
        raise ValueError("this label is set by the exporter itself; choose another name")
    if text in PROMETHEUS_LABELS or text.startswith("exported_"):
        raise ValueError(
            "this label is set by Prometheus or its service discovery; choose another name, such as site"
        )
    if not _LABEL.fullmatch(text):
        raise ValueError("a label name is 1 to 63 letters, digits or '_', beginning with a letter")
    return text


def env(text: str) -> str:
    """Return the name of an environment variable.  Raises ValueError, which never repeats the text."""
    if not _ENV.fullmatch(text) or holds_key(text) or looks_random(text):
        raise ValueError(
            "must be the name of an environment variable (letters, digits, '_'), such as OPENAI_API_KEY; "
            "the key itself never stands in this file"
        )
    return text


def header(text: str) -> str:
    """Return the name of an HTTP header of the user's own.  Raises ValueError."""
    if not _HEADER.fullmatch(text):
        raise ValueError("must be the name of an HTTP header, such as X-Tenant")
    if text.lower() in _WIRES_OWN:
        raise ValueError("this header is set by the exporter itself; remove it")
    return text


def is_secret_header(text: str) -> bool:
    """Tell whether a header of this name carries a secret."""
    return _SECRET_HEADER.search(text) is not None


def device(text: str) -> str:
    """Return the name of a device.  Raises ValueError."""
    if not is_device(text):
        raise ValueError(
            "must be cpu, mps, or a kind and a number such as cuda:0; auto alone means every device found"
        )
    return text


def gpu(text: str) -> str:
    """Return the UUID of a GPU.  Raises ValueError."""
    if text.upper().startswith("MIG-"):
        raise ValueError("a MIG slice has no power of its own; write the board's UUID (nvidia-smi -L)")
    if not _GPU.fullmatch(text):
        raise ValueError(
            "must be a GPU's UUID as nvidia-smi -L prints it, such as GPU-5fd4fc9c-...; an index can move"
        )
    return text


def currency(text: str) -> str:
    """Return a currency code.  Raises ValueError."""
    if not _CURRENCY.fullmatch(text):
        raise ValueError("must be a code of three capital letters (ISO 4217), such as USD or EUR")
    return text
