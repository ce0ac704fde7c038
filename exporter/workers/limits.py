"""What a worker does so that nobody else suffers from its hunger."""

import contextlib
from pathlib import Path


def go_first(own: Path = Path("/proc/self")) -> None:
    """Ask the kernel to kill this process before any other when memory runs out (Linux).

    Memory that is promised and then not there shows only when it is touched; without this the exporter, or
    the model server beside it, might be the one that is killed.
    """
    with contextlib.suppress(OSError):
        (own / "oom_score_adj").write_text("1000", encoding="ascii")
