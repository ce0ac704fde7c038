"""Files that say what is sent: mixes of prompts, and traces of arrivals."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from exporter.model.load_plan import Arrival, Prompt

MOST_ARRIVALS = 200_000
_TIME = ("timestamp", "Timestamp", "at_s")
_INPUT = ("input_length", "Request tokens", "input_tokens", "ContextTokens")
_OUTPUT = ("output_length", "Response tokens", "output_tokens", "GeneratedTokens")


def read_mix(path: Path) -> tuple[Prompt, ...]:
    """Read a mix: one JSON object a line with ``prompt``, and perhaps ``max_tokens`` and ``weight``.

    Raises ValueError that names the line.
    """
    prompts = []
    for number, line in enumerate(_lines(path), start=1):
        entry = _json(path, number, line)
        text = entry.get("prompt")
        if not isinstance(text, str) or not text:
            raise ValueError(f"{path}:{number}: prompt is missing or no text")
        try:
            most, weight = int(str(entry.get("max_tokens", 64))), float(str(entry.get("weight", 1)))
        except ValueError:
            raise ValueError(f"{path}:{number}: max_tokens and weight must be numbers") from None
        prompts.append(Prompt(text=text, max_tokens=most, weight=weight))
    if not prompts:
        raise ValueError(f"{path}: holds no prompt; write one JSON object a line")
    return tuple(prompts)


def read_trace(path: Path) -> tuple[Arrival, ...]:
    """Read a trace in time order, its first arrival at 0.

    Known shapes: JSON lines with ``timestamp`` (ms), ``input_length`` and ``output_length`` (Mooncake); CSV
    with ``Timestamp`` (s), ``Request tokens`` and ``Response tokens`` (BurstGPT), or with ``at_s``,
    ``input_tokens`` and ``output_tokens``.  Raises ValueError that names the line.
    """
    text = "\n".join(_lines(path))
    is_json = text.lstrip().startswith("{")
    rows = _json_rows(path, text) if is_json else enumerate(csv.DictReader(text.splitlines()), start=2)
    found = []
    for number, row in rows:
        try:
            at, asked, answered = (float(str(_pick(row, names))) for names in (_TIME, _INPUT, _OUTPUT))
        except (KeyError, ValueError):
            raise ValueError(
                f"{path}:{number}: needs a time, input tokens and output tokens; known names: "
                f"{', '.join((*_TIME, *_INPUT, *_OUTPUT))}"
            ) from None
        found.append((at / 1e3 if is_json else at, int(asked), int(answered)))
        if len(found) > MOST_ARRIVALS:
            raise ValueError(f"{path}: more than {MOST_ARRIVALS} arrivals; cut the file")
    if not found:
        raise ValueError(f"{path}: holds no arrival")
    found.sort()
    return tuple(Arrival(at - found[0][0], asked, answered) for at, asked, answered in found)


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, _json(path, number, line)


def _pick(row: dict[str, object], names: tuple[str, ...]) -> object:
    return row[next((name for name in names if name in row), names[0])]


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as text: {error}") from None


def _json(path: Path, number: int, line: str) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if isinstance(entry, dict):
        return entry
    raise ValueError(f"{path}:{number}: not a JSON object")
