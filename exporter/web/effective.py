"""The configuration in force as YAML, with everything hidden that could be a secret."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import yaml
from pydantic import BaseModel

from exporter.model.configuration import Configuration
from exporter.model.target import Header

HIDDEN = "hidden"


def effective(configuration: Configuration) -> str:
    """Return the configuration for people.

    Keys are not in it to begin with.  Hidden are: user, password, query values and fragment of URLs, plain
    values of headers, and every text in the parameters of a probe: prompts may be confidential, headers and
    bodies may hold a key.
    """
    return yaml.safe_dump(_plain(configuration), sort_keys=False, allow_unicode=True, width=110)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return _without_texts(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        if isinstance(value, Header):
            value = replace(value, value=f"{HIDDEN}, {len(value.value)} characters")
        # What a value leaves out of its own repr is not shown here either: prompts.
        return {
            field.name: _plain(getattr(value, field.name)) if field.repr else HIDDEN
            for field in fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(str(_plain(item)) for item in value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _scalar(value)


def _scalar(value: object) -> object:
    if isinstance(value, Enum):
        return _scalar(value.value)
    if isinstance(value, str):
        return _without_credentials(value) if "://" in value else value
    return value if value is None or isinstance(value, bool | int | float) else type(value).__name__


def _without_texts(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _without_texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_texts(item) for item in value]
    if isinstance(value, str):
        return f"{HIDDEN}, {len(value)} characters"
    return _scalar(value)


def _without_credentials(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    user, at, address = parts.netloc.rpartition("@")
    netloc = f"{HIDDEN}@{address}" if at or user else address
    query = urlencode([(key, HIDDEN) for key, _ in parse_qsl(parts.query, keep_blank_values=True)])
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))
