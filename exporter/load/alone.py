"""One load test at a time against an endpoint, over all processes of this user on this host."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from exporter.load.order import LoadError


@contextmanager
def alone(base_urls: Iterable[str]) -> Iterator[None]:
    """Hold the endpoints for the block.  Raises LoadError where another test holds one of them.

    The lock goes with the process, so a test that was killed leaves nothing behind but an empty file.
    """
    with ExitStack() as stack:
        for base_url in dict.fromkeys(base_urls):
            _hold(base_url, stack)
        yield


def _hold(base_url: str, stack: ExitStack) -> None:
    digest = hashlib.sha256(base_url.rstrip("/").encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"inference-exporter-load-{os.getuid()}-{digest}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise LoadError(f"cannot open {path}: {error.strerror}; remove it or set TMPDIR") from None
    stack.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LoadError(f"another load test is running against {base_url}; wait until it has ended") from None
