"""What kernels took before, in a small file of our own.

``{"schema": "inference-exporter/kernel-baseline/1", "fingerprints": {FINGERPRINT: {RUN: history}}}``, times
in seconds.  Written to a file beside it and renamed, so that a crash leaves the old one or the new one,
whole.
"""

import json
import logging
import os
import tempfile
from pathlib import Path
from typing import Any

from exporter.model.codec import DecodeError, decode, encode
from exporter.model.regression import History, Interval, Standing, decide

SCHEMA = "inference-exporter/kernel-baseline/1"
MAX_FINGERPRINTS = 16
"""The oldest go first: a driver or torch that was given up is of no use."""

logger = logging.getLogger(__name__)


class Baselines:
    """Histories by fingerprint and run; without a path they last as long as the process.

    A file that cannot be read is said once and begun anew: a bench never fails over its past.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._histories: dict[str, dict[str, History]] = _load(path) if path is not None else {}

    def judge(self, fingerprint: str, run: str, interval: Interval, slower: float) -> Standing:
        """Say how a valid run stands against its history, and add it."""
        known = self._histories.pop(fingerprint, {})
        self._histories[fingerprint] = known  # the youngest are last
        known[run], standing = decide(known.get(run, History()), interval, slower)
        while len(self._histories) > MAX_FINGERPRINTS:
            del self._histories[next(iter(self._histories))]
        return standing

    def save(self) -> None:
        """Write the file, if there is to be one; what is wrong with it is logged."""
        if self._path is None:
            return
        data = {
            "schema": SCHEMA,
            "fingerprints": {
                fingerprint: {run: encode(history) for run, history in runs.items()}
                for fingerprint, runs in self._histories.items()
            },
        }
        try:
            _write(self._path, json.dumps(data, allow_nan=False))
        except OSError as error:
            logger.warning(
                "kernel baselines cannot be written to %s (%s); they last until the service ends. "
                "Choose a bench_state that can be written",
                self._path,
                error.strerror,
            )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _load(path: Path) -> dict[str, dict[str, History]]:
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise DecodeError(f"schema {str(data['schema'])[:60]!r} is not {SCHEMA}")
        return {
            fingerprint: {run: decode(History, history, run) for run, history in runs.items()}
            for fingerprint, runs in data["fingerprints"].items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        logger.warning("kernel baselines in %s cannot be read (%s); they begin anew", path, error)
        return {}
