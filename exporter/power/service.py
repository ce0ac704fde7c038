"""Power as one part of the service: starts the sampling, keeps the accounts, shows what is current."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from exporter.adapters.child import Child, ChildEnd
from exporter.adapters.promql import Prometheus
from exporter.model.configuration import Configuration
from exporter.model.crash import describe
from exporter.model.efficiency import Efficiency
from exporter.model.power import Snapshot
from exporter.model.power_plan import PowerOptions, Promql
from exporter.model.power_protocol import Pace
from exporter.model.power_view import PowerView, Restart
from exporter.power.board import Board
from exporter.power.link import Link, start_worker
from exporter.power.meter import POLL_S, EnergyMeter
from exporter.power.remote import Remote
from exporter.power.target_energy import TargetEnergy

STALE_S = 2.5
"""On top of the interval: older values are taken away, long before a silent worker is given up."""
ACCOUNT_S = 1.5
"""The accounts of targets are kept about once a second, however seldom devices are sampled."""
AGAIN_S = 5.0

log = logging.getLogger(__name__)


class Power:
    """Call everything on one event loop.  ``publish`` gets a view whenever there is something to show."""

    def __init__(
        self,
        publish: Callable[[PowerView], None],
        *,
        start: Callable[[], Awaitable[Child | ChildEnd]] = start_worker,
        monotonic_s: Callable[[], float] = time.monotonic,
        unix_s: Callable[[], float] = time.time,
    ) -> None:
        self._publish = publish
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._board = Board()
        self._link = Link(on_snapshot=self._take, on_end=self._ended, start=start)
        self.meter = EnergyMeter(self._link, self._board, hurry=self._hurry, monotonic_s=monotonic_s)
        self._remote = Remote(Prometheus())
        self._options = PowerOptions()
        self._targets: dict[str, TargetEnergy] = {}
        self._restarts: Counter[Restart] = Counter()
        self._sampled_unix_s: float | None = None
        self._heard_s = self._shown_s = 0.0
        self._is_up = self._is_hurrying = self._is_stopped = False
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker; None while there is none."""
        return self._link.pid

    def start(self, configuration: Configuration) -> None:
        """Begin."""
        self._keep("watch", self._watch)
        self._adopt(configuration)

    async def reconfigure(self, configuration: Configuration) -> None:
        """Go over to another configuration; accounts of targets that stay go on."""
        await self._drop("remote")
        if self._options.enabled and not configuration.power.enabled:
            await self._drop("link")
            self._is_up, self._sampled_unix_s = False, None
            self._board = Board()
            self.meter.board = self._board
        self._adopt(configuration)
        self._show()

    async def stop(self) -> None:
        """End the worker, which lets the drivers go first, and everything else."""
        self._is_stopped = True
        for name in tuple(self._tasks):
            await self._drop(name)
        await self._remote.aclose()

    def worked(self, target: str, *, tokens: float, requests: float) -> None:
        """Count work that a target did for us outside load runs."""
        if target in self._targets:
            self._targets[target].worked(tokens, requests)

    def loaded(self, target: str, efficiency: Efficiency) -> None:
        """Take the result of a load run, which had the target to itself."""
        if target in self._targets:
            self._targets[target].loaded(efficiency)
            self._show()

    def _adopt(self, configuration: Configuration) -> None:
        self._options = configuration.power
        old = self._targets
        self._targets = {}
        for plan in configuration.targets:
            if (source := plan.target.power) is not None:
                account = old.get(plan.target.name)
                # By what its series are named after: a joule counter that began again would lose joules.
                if account is None or (account.target.model, account.source) != (plan.target.model, source):
                    account = TargetEnergy(plan.target, source)
                self._targets[plan.target.name] = account
        if self._options.enabled:
            self._keep("link", self._link.run)
            self._link.pace(self._pace())
        queries = [a.source.query for a in self._targets.values() if isinstance(a.source, Promql)]
        if self._options.prometheus is not None and queries:
            url = self._options.prometheus
            self._keep("remote", lambda: self._remote.run(url, queries))

    def _keep(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have a task of that name; a crash, which is a defect, is logged and the work begun again."""
        # A reload can still be going over when the service stops.
        if name in self._tasks or self._is_stopped:
            return
        task = self._tasks[name] = asyncio.get_running_loop().create_task(work(), name=f"power {name}")

        def ended(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error is not None and self._tasks.get(name) is task:
                log.error("power %s crashed and is begun again: %s", name, describe(error))
                del self._tasks[name]
                task.get_loop().call_later(AGAIN_S, self._keep, name, work)
                self._silence()

        task.add_done_callback(ended)

    async def _drop(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    def _hurry(self, wanted: bool) -> None:
        self._is_hurrying = wanted
        self._link.pace(self._pace())

    def _pace(self) -> Pace:
        every_s = min(POLL_S, self._options.every_s) if self._is_hurrying else self._options.every_s
        return Pace(every_s=every_s, processes=self._options.processes)

    def _take(self, snapshot: Snapshot) -> None:
        self._board.take(snapshot)
        self.meter.note(snapshot)
        self._heard_s, self._sampled_unix_s, self._is_up = self._monotonic_s(), self._unix_s(), True
        # A window's fast samples need not all be shown.
        if self._heard_s - self._shown_s >= 0.9 * self._options.every_s:
            self._show()

    def _ended(self, reason: Restart) -> None:
        self._restarts[reason] += 1
        self.meter.broken()
        self._silence()

    def _silence(self) -> None:
        self._board.silence()
        self._is_up = False
        self._show()

    async def _watch(self) -> None:
        """Take away what has become old, and keep the accounts where no worker speaks."""
        while True:
            await asyncio.sleep(min(1.0, self._options.every_s))
            now_s = self._monotonic_s()
            if self._is_up and now_s - self._heard_s > self._options.every_s + STALE_S:
                self._silence()
            elif now_s - self._shown_s >= ACCOUNT_S:
                self._show()

    def _show(self) -> None:
        self._shown_s = self._monotonic_s()
        for account in self._targets.values():
            account.tick(self._shown_s, self._board, self._remote)
        self._publish(
            PowerView(
                worker_up=self._is_up if self._options.enabled else None,
                restarts=tuple(self._restarts.items()),
                sampled_unix_s=self._sampled_unix_s,
                sources=self._board.sources,
                gpus=self._board.gpus,
                zones=self._board.zones,
                targets=tuple(a.view(self._options.electricity) for a in self._targets.values()),
            )
        )
