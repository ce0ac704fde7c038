"""The power part of the service with a real worker, and what a scrape of it shows."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from prometheus_client.parser import text_string_to_metric_families

from exporter.adapters.child import start_child
from exporter.adapters.prometheus import Sink
from exporter.metrics.catalogue import ALL
from exporter.metrics.power_samples import tables
from exporter.model.configuration import Configuration, TargetPlan, WebOptions
from exporter.model.power_plan import PowerOptions
from exporter.model.power_view import PowerView
from exporter.power.link import WORKER
from exporter.power.service import Power

ROOT = Path(__file__).parents[2]
WITHIN_S = 60.0

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def configuration(*targets: TargetPlan, **power: object) -> Configuration:
    options = PowerOptions(**({"every_s": 0.1} | power))
    return Configuration(targets=targets, benches=(), web=WebOptions(host="127.0.0.1", port=0), power=options)


async def becomes(condition: Callable[[], object], otherwise: Callable[[], str] = str) -> None:
    """Wait until something is so, however busy the host is."""
    end_s = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < end_s, otherwise()
        await asyncio.sleep(0.02)


class Station:
    """Starts power sampling against an environment, and reads its metrics."""

    def __init__(
        self, environment: Mapping[str, str], *targets: TargetPlan, module: str = WORKER, **power: object
    ) -> None:
        base = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
        self._sink = Sink(ALL, {})
        self.views = 0
        start = partial(start_child, module, str(os.getpid()), environment=base | dict(environment))
        self.power = Power(self._publish, start=start)
        self._configuration = configuration(*targets, **power)

    async def __aenter__(self) -> Self:
        self.power.start(self._configuration)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.power.stop()

    def _publish(self, view: PowerView) -> None:
        self.views += 1
        self._sink.set_tables(tables(view))

    @property
    def series(self) -> Series:
        """Every sample of a scrape."""
        text = self._sink.render("")[0].decode()
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float | None:
        """The value of the one series with exactly these labels; None where there is none."""
        return self.series.get((name, frozenset(labels.items())))

    def all(self, name: str) -> dict[frozenset[tuple[str, str]], float]:
        return {labels: value for (each, labels), value in self.series.items() if each == name}

    async def until(self, condition: Callable[[], object]) -> None:
        await becomes(condition, lambda: self.told)

    async def fresh(self, samples: int = 3) -> None:
        """Wait for so many more publications."""
        wanted = self.views + samples
        await self.until(lambda: self.views >= wanted)

    @property
    def told(self) -> str:
        return "\n".join(f"{name}{dict(labels)} {value}" for (name, labels), value in self.series.items())
