"""The life of the service: start, reload, stop."""

import asyncio
import gc
import logging
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from exporter import __version__
from exporter.adapters.openai_api import OpenAiApi
from exporter.app.budgets import Budgets
from exporter.app.history import History
from exporter.app.jobs import Jobs, bench_job_name
from exporter.app.loads import LoadJobs, load_job_name
from exporter.app.meter import Meter, job_names
from exporter.app.on_demand import OnDemand
from exporter.app.probing import Probing
from exporter.config.problem import ConfigError
from exporter.kernels.runner import BenchRunner
from exporter.load.runner import LoadRunner
from exporter.model.configuration import Configuration, WebOptions
from exporter.model.crash import describe
from exporter.model.job import JobKind
from exporter.power.service import Power
from exporter.probes import KINDS
from exporter.probes.base import Doors
from exporter.reload import Plan, diff, jobs, loads
from exporter.scheduler.service import Scheduler
from exporter.web.answers import Answers, Reloaded
from exporter.web.effective import effective
from exporter.web.server import WebServer

SWITCH_INTERVAL_S = 0.0001
"""Rendering 5,000 series delayed the event loop by 10.7 ms (p99) with the default of 5 ms, by 2.2 ms so."""
WEB_GRACE_S = 2.0
DISCOVER_EVERY_S = 2.5

log = logging.getLogger(__name__)


class Service:
    """One running exporter.

    It begins with ``configuration``.  ``load`` returns a new one or raises ConfigError; it is called at every
    reload, on a thread, since disks can be slow.  ``discover`` is called every few seconds likewise, and
    returns a new one when target files changed.
    """

    _discovering: asyncio.Task[None] | None = None

    def __init__(
        self,
        load: Callable[[], Configuration],
        configuration: Configuration,
        *,
        discover: Callable[[], Configuration | None] | None = None,
        listen: WebOptions | None = None,
        grace_s: float = 10.0,
    ) -> None:
        self._load = load
        self._discover = discover
        self._listen = listen
        self._grace_s = grace_s
        self._stopping = asyncio.Event()
        self._reloading = asyncio.Lock()
        self._reloads: set[asyncio.Task[Reloaded]] = set()
        self._configuration = configuration
        self._meter = Meter(self._configuration, unix_s=time.time)
        self._api = OpenAiApi()
        self._power = Power(self._meter.powered)
        self._scheduler = Scheduler(self._meter)
        self._benches = BenchRunner(considerate=True)
        self._history = History()
        self._budgets = Budgets(
            time.time,
            path=None if configuration.state_file is None else Path(configuration.state_file),
            on_spent=self._meter.budget_spent,
            on_file=self._meter.state_file,
        )
        probing = Probing(
            kinds=KINDS,
            doors=Doors(api=self._api, unix_s=time.time),
            budgets=self._budgets,
            history=self._history,
        )
        self._jobs = Jobs(probing=probing, benches=self._benches, meter=self._meter, power=self._power)
        self._on_demand = OnDemand(
            probing,
            self._scheduler,
            lambda: self._configuration,
            self._meter.spent_on_demand,
            unix_s=time.time,
        )
        self._loads = LoadJobs(
            runner=LoadRunner(),
            meter=self._meter,
            claim=self._scheduler.claiming,
            unix_s=time.time,
            energy=self._power,
        )

    async def run(self) -> int:
        """Serve until told to stop; return how many runs ignored their cancellation and are still going.

        Raises ListenError where the address cannot be listened on.
        """
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        web = WebServer(self._answers())
        options = self._listen or self._configuration.web
        port = await web.start(options.host, options.port)
        revision = os.environ.get("INFERENCE_EXPORTER_REVISION", "")
        self._meter.started(__version__, revision, platform.python_version())
        self._listen_to_signals()
        async with self._reloading:  # one that comes now has nothing yet to change
            await self._api.prepare()
            self._took_over(self._configuration)
            self._power.start(self._configuration)
            self._scheduler.start()
            self._scheduler.add(
                [one for job in jobs(self._configuration) for one in self._jobs.probe(job.target, job.spec)]
            )
            self._scheduler.add([self._jobs.bench(plan) for plan in self._configuration.benches])
            self._scheduler.add([self._loads.job(test) for test in loads(self._configuration)])
        _freeze_what_stays()
        host = f"[{options.host}]" if ":" in options.host else options.host
        log.info("metrics on http://%s:%d/metrics", host, port)
        self._begin_discovering()
        await self._stopping.wait()
        if self._discovering is not None:
            self._discovering.cancel()
        abandoned = await self._scheduler.drain(self._grace_s)
        await self._benches.aclose()
        await self._power.stop()
        await web.stop(WEB_GRACE_S)
        await self._api.aclose()
        await self._budgets.aclose()
        return abandoned

    def stop(self) -> None:
        """Begin the end: no new runs, and those that are going get the grace."""
        self._stopping.set()

    async def reload(self) -> Reloaded:
        """Load the configuration again and go over to it, or keep the old one and say why."""
        async with self._reloading:
            try:
                new = await asyncio.to_thread(self._load)
            except ConfigError as error:
                self._meter.reload_refused()
                text = "\n".join(error.lines)
                log.error("reload refused, the old configuration stays in force:\n%s", text)
                return Reloaded(False, text)
            if self._stopping.is_set():
                return Reloaded(False, "the service is stopping; the configuration is read at the next start")
            return Reloaded(True, await self._go_over(new))

    def _answers(self) -> Answers:
        return Answers(
            version=__version__,
            render=self._meter.render,
            ready=lambda: self._scheduler.readiness(JobKind.PROBE),
            reload=self.reload,
            config=lambda: effective(self._configuration),
            probe=self._on_demand.answer,
            history=self._history.list,
            past=self._history.text,
        )

    def _begin_discovering(self) -> None:
        """Have a task that looks for changed target files; a defect of it is logged, and it begins again."""
        task = self._discovering = asyncio.create_task(self._keep_discovering())

        def ended(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error is not None and not self._stopping.is_set():
                log.error("looking for target files crashed and begins again: %s", describe(error))
                self._begin_discovering()

        task.add_done_callback(ended)

    async def _keep_discovering(self) -> None:
        """Look for changed target files, for ever."""
        while self._discover is not None:
            await asyncio.sleep(DISCOVER_EVERY_S)
            async with self._reloading:
                new = await asyncio.to_thread(self._discover)
                if new is not None:
                    await self._go_over(new)

    async def _go_over(self, new: Configuration) -> str:
        """Go over to another configuration and return what that changes, for people."""
        plan = diff(self._configuration, new)
        await self._change_jobs(plan, new)
        self._took_over(new)
        await self._api.keep_only({target.target.base_url for target in new.targets})
        log.info("reloaded: %s", plan.summary)
        return "\n".join((plan.summary, *new.target_file_problems))

    def _took_over(self, configuration: Configuration) -> None:
        for line in configuration.target_file_problems:
            log.error("target file not in force as it stands: %s", line)
        self._history.keep_only({job.key for job in jobs(configuration)})
        self._budgets.show(plan.target for plan in configuration.targets)

    async def _change_jobs(self, plan: Plan, new: Configuration) -> None:
        ended = [*plan.removed, *(change.old for change in plan.changed)]
        begun = [*plan.added, *(change.new for change in plan.changed)]
        gone = [name for job in ended for name in job_names(job.target, job.spec)]
        gone += [bench_job_name(bench) for bench in plan.benches_removed]
        gone += [load_job_name(test) for test in plan.loads_removed]
        await self._scheduler.remove(gone)
        if plan.benches_removed:
            await self._benches.aclose()
        self._configuration = new
        self._meter.reconfigured(new)
        await self._power.reconfigure(new)
        self._scheduler.add(
            [
                *(one for job in begun for one in self._jobs.probe(job.target, job.spec)),
                *(self._jobs.bench(bench) for bench in plan.benches_added),
                *(self._loads.job(test) for test in plan.loads_added),
            ]
        )

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._reload_soon)

    def _reload_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self.reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)


def _freeze_what_stays() -> None:
    """Take all that was built so far out of the garbage collector's sight.

    A full collection stops the event loop while it walks every object: 0.2 s with the SDK imported and 1,000
    probes configured, and nothing of that ever becomes garbage.
    """
    gc.collect()
    gc.freeze()
