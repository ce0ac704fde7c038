"""What a log may say about a crash: type and place, never the message or a value."""

import traceback
from pathlib import PurePath

_FRAMES = 12


def describe(error: BaseException) -> str:
    """Return one line with the types of the error and its causes and the places they came through.

    Messages are left out: libraries put URLs, headers and request bodies into theirs.
    """
    parts: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        parts.append(f"{type(current).__name__} at {_places(current)}")
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return ", caused by ".join(parts)


def _places(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return (
        " > ".join(f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames) or "no frame"
    )


def _short(filename: str) -> str:
    return "/".join(PurePath(filename).parts[-3:])
