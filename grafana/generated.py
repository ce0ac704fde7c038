"""Generated files: written, or compared with what is there."""

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path


def write(wanted: Mapping[str, str], folder: Path) -> int:
    """Write the texts into files of their names; 0, the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in wanted.items():
        (folder / name).write_text(content, encoding="utf-8")
    return 0


def compare(wanted: Mapping[str, str], folder: Path, pattern: str) -> int:
    """Print how the folder's files of that pattern differ from the texts; 1 if they do, else 0."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob(pattern)}
    for name in sorted(wanted.keys() | there.keys()):
        old, new = (files.get(name, "").splitlines(keepends=True) for files in (there, wanted))
        sys.stdout.writelines(difflib.unified_diff(old, new, str(folder / name), "generated"))
    return int(there != wanted)
