"""What a busy exporter does to itself: renders big scrapes in a thread, and blocks its own event loop."""

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import generate_latest

SWITCH_INTERVAL_S = 1e-4
"""The exporter sets the same, so that a rendering thread gives the GIL up soon."""


@contextmanager
def scrapes(series: int, every_s: float) -> Iterator[list[float]]:
    """Render that many series in a thread every so often; yields the durations in seconds so far."""
    registry = CollectorRegistry()
    gauge = Gauge("disturbance", "Series to render.", ("number",), registry=registry)
    for number in range(series):
        gauge.labels(str(number)).set(number / 7)
    durations: list[float] = []
    stopped = threading.Event()

    def render() -> None:
        due = time.monotonic()
        while not stopped.wait(max(0.0, due - time.monotonic())):
            start = time.monotonic()
            generate_latest(registry)
            durations.append(time.monotonic() - start)
            due += every_s

    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    thread = threading.Thread(target=render, name="scrapes")
    thread.start()
    try:
        yield durations
    finally:
        stopped.set()
        thread.join()
        sys.setswitchinterval(before)


async def block_loop(length_s: float, every_s: float) -> None:
    """Hold the event loop for ``length_s`` every ``every_s``, until cancelled."""
    while True:
        await asyncio.sleep(every_s - length_s)
        end = time.monotonic() + length_s
        while time.monotonic() < end:
            pass
