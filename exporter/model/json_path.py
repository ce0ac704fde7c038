"""Places in a JSON document, written like ``outputs[0].shape[1]``."""

import re

_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]{1,9})\]")
_PATH = re.compile(
    r"[^.\[\]]+(\[[0-9]{1,9}\])*(\.[^.\[\]]+(\[[0-9]{1,9}\])*)*|(\[[0-9]{1,9}\])+(\.[^.\[\]]+(\[[0-9]{1,9}\])*)*"
)


class JsonPathError(Exception):
    """There is nothing at that place."""


def steps(path: str) -> tuple[str | int, ...]:
    """Return the keys and indices of a path.  Raises ValueError that says how to write one."""
    if not _PATH.fullmatch(path):
        raise ValueError("a path is keys with dots and indices in brackets, such as outputs[0].data")
    return tuple(int(index) if index else key for key, index in _STEP.findall(path))


def found_at(document: object, path: str) -> object:
    """Return what stands at a path.  Raises JsonPathError, which names the path and nothing else."""
    for step in steps(path):
        if not _has(document, step):
            raise JsonPathError(f"there is no {path}")
        document = document[step]  # type: ignore[index]
    return document


def _has(document: object, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(document, list) and step < len(document)
    return isinstance(document, dict) and step in document
