"""When the process is to end: on a signal, or with the process that started it."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_signals(*, watch_stdin: bool) -> Iterator[asyncio.Event]:
    """Give an event that is set by SIGTERM, by SIGINT or, if watched, by the end of standard input.

    A parent that dies, however suddenly, closes its end of the pipe; the kernel's parent-death signal
    would come when the parent's *thread* ends, and has a race at the start.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    if watch_stdin:
        # A daemon, because nothing can end its read from here.
        threading.Thread(target=_await_end, args=(loop, stop), name="stdin", daemon=True).start()
    try:
        yield stop
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _await_end(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(stop.set)
