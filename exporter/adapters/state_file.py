"""A small JSON file that outlives the process: written whole or not at all, and set aside when broken."""

import json
import os
from pathlib import Path

MAX_BYTES = 16 * 1024 * 1024


class StateFileError(Exception):
    """The file cannot be used; says which, why, and what was done about it."""


def read_state(path: Path) -> dict[str, object]:
    """Return the object in the file, empty where there is none.

    A file that holds anything else is renamed to ``NAME.broken``.  Raises StateFileError after that, and for
    a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StateFileError(
            f"state file {path} cannot be read: {error.strerror}; check owner and mode"
        ) from None
    try:
        state = json.loads(data) if len(data) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        state = None
    if isinstance(state, dict):
        return state
    aside = path.with_name(path.name + ".broken")
    try:
        path.replace(aside)
    except OSError as error:
        raise StateFileError(f"state file {path} is broken and stays there: {error.strerror}") from None
    raise StateFileError(f"state file {path} is broken and was set aside as {aside}; counting begins at 0")


def write_state(path: Path, state: dict[str, object]) -> None:
    """Replace the file; whoever reads it sees the old or the new one, never a part.

    Raises StateFileError.
    """
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(state, file, separators=(",", ":"))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise StateFileError(f"state file {path} cannot be written: {error.strerror}") from None
