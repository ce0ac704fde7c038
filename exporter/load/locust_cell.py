"""Load from more machines than one: each Locust worker runs one of our load workers, the master joins them.

Locust spreads the users, tells every worker how many are its own, and carries the tallies back.  The
requests are ours: a user written in Python, over gevent, would be the limit long before the server.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exporter.adapters.child_environment import child_environment
from exporter.load.crew import WORKER
from exporter.load.fingerprint import fingerprint
from exporter.load.order import LoadOrder
from exporter.load.runner import setup_of
from exporter.model.codec import decode, encode
from exporter.model.load_protocol import (
    Progress,
    StepDone,
    StepOrder,
    Stop,
    Unable,
    report_from_json,
    to_json,
)
from exporter.model.load_result import LoadRun, Served, Step, Tally, joined


class Cell:
    """One load worker as a child of a Locust worker; all calls block, which gevent turns into waiting."""

    def __init__(self, order: LoadOrder, clients: int, share: int) -> None:
        """Begin a closed loop of ``clients``; ``share`` is how many workers the bounds are divided by."""
        self.done: StepDone | None = None
        self.failed = ""
        bounds = order.plan.bounds
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", WORKER, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(os.environ, threads=1),
        )
        self._say(to_json(setup_of(order, order.target)))
        step = StepOrder(
            mode=order.plan.mode,
            clients=clients,
            rate=None,
            requests=max(1, bounds.requests // share),
            seconds=bounds.seconds,
            settle_s=order.plan.settle_s,
            tokens=max(1, bounds.tokens // share),
            breaker=order.plan.breaker,
        )
        self._say(to_json(step))

    def follow(self, show: Callable[[Progress], None]) -> None:
        """Read reports until the step is over; ``done`` or ``failed`` is set then."""
        for line in self._child.stdout or ():
            report = report_from_json(json.loads(line))
            if isinstance(report, Progress):
                show(report)
            elif isinstance(report, StepDone):
                self.done = report
                break
            elif isinstance(report, Unable):
                self.failed = report.detail
                break
        else:
            self.failed = "the load worker ended without a report"
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()

    def stop(self) -> None:
        """Have the step end now; ``follow`` then returns."""
        self._say(to_json(Stop()))

    def _say(self, message: dict[str, Any]) -> None:
        if self._child.stdin is not None and not self._child.stdin.closed:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()


class Gathering:
    """What the master has been sent."""

    def __init__(self, order: LoadOrder, unix_s: float) -> None:
        self._order = order
        self._started_unix_s = unix_s
        self._load_before = os.getloadavg()[0]
        self._tallies: list[Tally] = []
        self._clients = 0
        self._stopped: list[str] = []

    def take(self, data: dict[str, Any]) -> None:
        """Take what one worker sent.  Raises DecodeError."""
        self._clients += int(data["clients"])
        if data["failed"]:
            self._stopped.append(f"a load worker failed: {data['failed']}")
        if data["done"] is not None:
            self._tallies.append(decode(StepDone, data["done"], "done").tally)

    def run(self) -> LoadRun:
        """Return the run of all workers together."""
        level = float(max(1, self._clients))
        target = self._order.target
        plan = replace(
            self._order.plan,
            levels=(level,),
            workers=max(1, len(self._tallies)),
            bounds=replace(self._order.plan.bounds, concurrency=max(1, self._clients)),
        )
        step = Step(
            level=level,
            started_unix_s=self._started_unix_s,
            tally=joined(tuple(self._tallies)),
            stopped="; ".join(self._stopped),
        )
        return LoadRun(
            plan=plan,
            served=Served(target=target.name, base_url=target.base_url, model=target.model),
            pricing=self._order.pricing,
            fingerprint=fingerprint(self._load_before),
            started_unix_s=self._started_unix_s,
            steps=(step,),
            stopped="; ".join(self._stopped),
        )


def sent(cell: Cell, clients: int) -> dict[str, Any]:
    """Return what a worker sends to the master."""
    return {
        "clients": clients,
        "failed": cell.failed,
        "done": None if cell.done is None else encode(cell.done),
    }
