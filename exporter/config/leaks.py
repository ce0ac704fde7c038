"""Keys that stand where everyone can read them: find them, and never repeat them."""

import re
from collections.abc import Iterator

_KEY_SHAPES = (
    # A digit is asked for, so that hyphenated words ("sk-learn-pipelines") are left alone.
    r"\b(?:sk|rk|pk|xai|gsk|csk|pplx|nvapi|fw|tgp|r8|glpat)[-_](?=[\w-]*\d)[\w-]{12,}",
    r"\b(?:hf|ghp|gho|ghs|github_pat|xox[abp])[-_](?=[\w-]*\d)[\w-]{12,}",
    r"\bAKIA[0-9A-Z]{16}\b",
    r"\bAIza[\w-]{30,}",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",
)
_KEY = re.compile("|".join(_KEY_SHAPES))
_SUSPECT = re.compile(
    "|".join((*_KEY_SHAPES, r"\b(?:sk|hf)[-_][\w-]{4,}", r"(?i:\bbearer)\s+\S+", r"//[^/\s@]*@"))
)
_KEY_NAMES = frozenset(
    {"api_key", "apikey", "key", "access_key", "secret_key", "openai_api_key", "token", "access_token"}
    | {
        "api_token",
        "auth",
        "authorization",
        "bearer",
        "credential",
        "credentials",
        "password",
        "passwd",
        "secret",
    }
)
_LONGEST_PLAIN_NAME = 20


def redact(text: str) -> str:
    """Return the text with ``***`` for whatever looks like a key, a bearer token or URL credentials."""
    return _SUSPECT.sub("***", text)


def holds_key(text: str) -> bool:
    """Tell whether an API key of a known shape stands in the text."""
    return _KEY.search(text) is not None


def looks_random(name: str) -> bool:
    """Tell whether a would-be name is more likely the key itself: long, no separators, letters and digits."""
    return (
        len(name) > _LONGEST_PLAIN_NAME
        and "_" not in name
        and any(c.isdigit() for c in name)
        and any(c.isalpha() for c in name)
    )


def is_key_name(name: str) -> bool:
    """Tell whether a configuration key of this name would hold a secret."""
    return name.strip().lower().replace("-", "_") in _KEY_NAMES


Location = tuple[str | int, ...]


def _is_our_word(at: Location) -> bool:
    """Tell whether a mapping's keys are this file's vocabulary.

    Names of labels are the user's own, and so is what a request carries below its parameters: a JSON schema
    may well have a property ``token``.
    """
    return "labels" not in at and "params" not in at[:-1]


def leaks(value: object, at: Location = ()) -> Iterator[Location]:
    """Yield where in the parsed file a secret stands, by the name of its key or by the shape of its text."""
    if isinstance(value, str):
        if holds_key(value):
            yield at
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaks(item, (*at, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            if (is_key_name(name) and _is_our_word(at)) or holds_key(name):
                yield (*at, name)
            else:
                yield from leaks(item, (*at, name))
