"""Reading a file that the user named, which may be a pipe, a device or a directory."""

import errno
import os
import select
import time
from pathlib import Path

_MS = 1000


def read_bounded(path: Path, most_bytes: int, *, wait_s: float = 0.0) -> bytes:
    """Return the first ``most_bytes`` bytes of a file.

    A pipe or terminal gets ``wait_s`` seconds to come to its end; with 0 it must not keep us waiting at all.
    Raises OSError, also for a directory and for a pipe that says nothing, and ValueError for what is no path.
    """
    # Opening a pipe would otherwise wait for a writer, for ever and whoever is waiting for us.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return _read(descriptor, most_bytes, time.monotonic() + wait_s)
    finally:
        os.close(descriptor)


def _read(descriptor: int, most_bytes: int, until_s: float) -> bytes:
    pieces: list[bytes] = []
    missing = most_bytes
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while missing:
        if not poll.poll(max(0.0, until_s - time.monotonic()) * _MS):
            raise TimeoutError(errno.ETIMEDOUT, "a pipe that nobody writes to the end of")
        piece = os.read(descriptor, missing)
        if not piece:
            break
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)
