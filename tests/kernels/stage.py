"""Benches with a fake worker."""

import dataclasses
import os
from pathlib import Path

import psutil

from exporter.adapters.child import start_child
from exporter.kernels.cases import ARTICLE
from exporter.kernels.runner import BenchRunner
from exporter.kernels.suite import Suite
from exporter.model.configuration import BenchPlan

ROOT = Path(__file__).parents[2]
ON_CPU = BenchPlan(suite="light", every_s=300, devices=("cpu",))
EVERYWHERE = BenchPlan(suite="light", every_s=300)
PLAIN = Suite(name="light", about="", on_cpu=(ARTICLE,), on_accelerator=(ARTICLE,), deadline_s=300.0)
TWO = dataclasses.replace(PLAIN, on_cpu=(ARTICLE, dataclasses.replace(ARTICLE, name="next")))


class Stage:
    """Runs benches with a worker of some character; ``lines`` is what was announced, ``pids`` who worked."""

    def __init__(self, diary):
        self.diary = diary
        self.lines = []
        self.threads = []

    @property
    def pids(self):
        return [int(line) for line in self.diary.read_text().split()] if self.diary.exists() else []

    @property
    def alive(self):
        return [pid for pid in self.pids if psutil.pid_exists(pid)]

    def runner(self, character, *, begin="0", **doors):
        environment = {
            "PYTHONPATH": str(ROOT),
            "CHARACTER": character,
            "DIARY": str(self.diary),
            "BEGIN": begin,
        }

        async def start(threads):
            self.threads.append(threads)
            return await start_child("tests.kernels.fake_worker", str(os.getpid()), environment=environment)

        return BenchRunner(**{"start": start, "announce": self.lines.append} | doors)

    async def report(self, character, plan=ON_CPU, **doors):
        runner = self.runner(character, **doors)
        try:
            return await runner.run(plan)
        finally:
            await runner.aclose()
            assert self.alive == []
