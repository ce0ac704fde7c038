"""Byte-level vocabulary: text to token ids and back, and which bytes may follow which."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

BYTES = 256
BEGIN, END, SYSTEM, USER, ASSISTANT, TOOL = range(BYTES, BYTES + 6)
SIZE = BYTES + 6

MARKERS = {
    "system": SYSTEM,
    "developer": SYSTEM,
    "user": USER,
    "assistant": ASSISTANT,
    "tool": TOOL,
}
"""The token that opens a message, by its role."""

_LEAD_BYTES = range(0xC3, 0xC6)
_CONTINUATION_BYTES = range(0x80, 0xC0)


def encode(text: str) -> list[int]:
    """Return one token a UTF-8 byte; lone surrogates, which JSON can carry, become ``?``."""
    return list(text.encode("utf-8", errors="replace"))


def encode_prompt(text: str) -> list[int]:
    """Return the tokens of a plain prompt."""
    return [BEGIN, *encode(text)]


def encode_chat(messages: Iterable[tuple[str, str]]) -> list[int]:
    """Return the tokens of (role, text) messages, ending where the assistant is to speak.

    Raises KeyError for a role that is not in ``MARKERS``.
    """
    tokens = [BEGIN]
    for role, text in messages:
        tokens += [MARKERS[role], *encode(text), END]
    return [*tokens, ASSISTANT]


def _only(allowed: Iterable[int]) -> npt.NDArray[np.bool_]:
    mask = np.zeros(SIZE, bool)
    mask[list(allowed)] = True
    return mask


_ANY_CHARACTER = _only([*range(0x20, 0x7F), *_LEAD_BYTES])
_CHARACTER_OR_END = _ANY_CHARACTER | _only([END])
_CONTINUATION = _only(_CONTINUATION_BYTES)


def may_follow(last: int, *, may_end: bool) -> npt.NDArray[np.bool_]:
    """Return which tokens may come after ``last`` so that the text stays valid UTF-8.

    Random weights know no spelling; without this most of the text would be replacement characters.
    """
    if last in _LEAD_BYTES:
        return _CONTINUATION
    return _CHARACTER_OR_END if may_end else _ANY_CHARACTER
