"""A worker's end of the line: questions in, answers out, and a life tied to the parent's."""

import ctypes
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import Any

_PR_SET_PDEATHSIG = 1


class Channel:
    """JSON lines over the standard streams.

    The real standard output is kept for answers; whatever a library prints goes to standard error, where
    it cannot be mistaken for one.
    """

    def __init__(self) -> None:
        self._answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def questions(self) -> Iterator[object]:
        """Yield each line's parsed JSON until the parent closes the line.

        Raises:
            ValueError: a line is not JSON.
        """
        for line in sys.stdin:
            yield json.loads(line)

    def answer(self, message: Mapping[str, Any]) -> None:
        """Send one answer now."""
        self._answers.write(json.dumps(message, allow_nan=False) + "\n")
        self._answers.flush()


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends, however that comes about (Linux).

    Ends this process at once where the parent is gone already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        raise SystemExit("the parent has ended")
