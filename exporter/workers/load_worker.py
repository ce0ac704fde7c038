"""The process that makes load: reads a setup and steps on standard input, reports on standard output.

Started by ``exporter.load``, never imported.  It has no event loop, no SDK and no collector of garbage
between the wire and the histograms; scheduling class and processor affinity are left to whoever starts it.
"""

import gc
import json
import os
import select
import socket
import sys
from collections.abc import Callable
from typing import Any

from exporter.adapters.wire import kernel
from exporter.adapters.wire.lane import Lane
from exporter.adapters.wire.poller import READABLE, Poller
from exporter.adapters.wire.request import split_url
from exporter.adapters.wire.resolve import system_lookup
from exporter.adapters.wire.tls import make_context
from exporter.model.crash import describe
from exporter.model.load_protocol import (
    Order,
    Progress,
    Ready,
    Setup,
    StepOrder,
    Stop,
    Unable,
    order_from_json,
    to_json,
)
from exporter.workers.channel import Channel, die_with_parent
from exporter.workers.load_worker_requests import Requests
from exporter.workers.load_worker_step import StepRun

_INPUT = 0
_READ_BYTES = 1 << 16


class Inbox:
    """Orders from standard input, waited for between steps and looked for during one."""

    def __init__(self) -> None:
        self._buffer = b""
        self._orders: list[Order] = []

    def wait(self) -> Order | None:
        """Return the next order; None when the runner has closed the line.  Raises DecodeError."""
        while not self._orders:
            select.select([_INPUT], [], [])
            if not self._read():
                return None
        return self._orders.pop(0)

    def look(self) -> Order | None:
        """Return an order that has come, if one has; a closed line is an order to stop."""
        if not self._read():
            return Stop()
        return self._orders.pop(0) if self._orders else None

    def _read(self) -> bool:
        data = os.read(_INPUT, _READ_BYTES)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._orders += [order_from_json(json.loads(line)) for line in lines if line]
        return bool(data)


class Worker:
    """Keeps what lasts from step to step."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        origin, _ = split_url(setup.base_url)
        self._addresses = system_lookup(origin.host, origin.port)
        self._context = make_context(setup.tls) if origin.scheme == "https" else None
        self._name = setup.tls.server_name or origin.host
        self._requests = Requests(setup)
        # The kernel stamps packets only while some socket asks, and needs a moment to begin.
        self._keeper = socket.socket()
        kernel.ask_for_stamps(self._keeper)

    def run(self, order: StepOrder, inbox: Inbox, say: Callable[[dict[str, Any]], None]) -> None:
        """Run one step and report it."""
        poller = Poller()

        def new_lane(owner: StepRun) -> Lane:
            return Lane(poller, owner, self._addresses, self._context, self._name)

        def report(progress: Progress) -> None:
            say(to_json(progress))

        step = StepRun(self._setup, order, self._requests, poller=poller, new_lane=new_lane, say=report)

        def look(_mask: int) -> None:
            if isinstance(inbox.look(), Stop):
                step.stop("stopped")
                poller.forget(_INPUT)

        poller.watch(_INPUT, READABLE, look)
        try:
            done = step.run()
        finally:
            poller.close()
        say(to_json(done))

    def close(self) -> None:
        """Give the socket back."""
        self._keeper.close()


def main(parent_pid: int) -> None:
    """Work until the line is closed."""
    die_with_parent(parent_pid)
    channel = Channel()
    try:
        _serve(Inbox(), channel.answer)
    except Exception as error:  # noqa: BLE001 - the runner gets a sentence, and never a message that quotes a key
        channel.answer(to_json(Unable(describe(error))))
        raise SystemExit(1) from None


def _serve(inbox: Inbox, say: Callable[[dict[str, Any]], None]) -> None:
    worker: Worker | None = None
    while (order := inbox.wait()) is not None:
        if isinstance(order, Setup):
            try:
                worker = Worker(order)
            except (OSError, ValueError) as error:
                say(to_json(Unable(f"{type(error).__name__}: {error}"[:300])))
                continue
            # Nothing made from here on has cycles; a collection would stop the clock for what lives already.
            gc.collect()
            gc.freeze()
            gc.disable()
            say(to_json(Ready()))
        elif isinstance(order, StepOrder) and worker is not None:
            worker.run(order, inbox, say)
            gc.collect()


if __name__ == "__main__":
    main(int(sys.argv[1]))
