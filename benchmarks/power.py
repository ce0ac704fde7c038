"""What sampling power costs, and how far its joules are off, against the fake NVIDIA driver.

    python -m benchmarks.power [--seconds 20] [--windows 5] [--out FILE]

Needs a C compiler.  The truth is a power profile that the fake driver integrates in closed form; what a real
board adds to that (its own sampling of the power) is not in these figures.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.host import conditions
from exporter.adapters.child import start_child
from exporter.adapters.prometheus import Sink
from exporter.metrics.catalogue import ALL
from exporter.metrics.power_samples import tables
from exporter.model.configuration import Configuration, WebOptions
from exporter.model.power_plan import Gpus, PowerOptions
from exporter.power.link import WORKER
from exporter.power.service import Power
from tests.fakes.nvml.driver import FakeDriver, build, uuid

WINDOWS_S = (0.5, 1.0, 2.0, 5.0)
SAW_S = 0.07


class Running:
    """Power sampling of so many fake GPUs at a pace."""

    def __init__(self, driver: FakeDriver, gpus: int, every_s: float) -> None:
        driver.set(devices=gpus)
        self._environment = dict(os.environ) | driver.environment
        self._sink = Sink(ALL, {})
        self._views = 0
        self._ready = asyncio.Event()
        self.power = Power(self._publish, start=self._start)
        self._options = PowerOptions(every_s=every_s)

    async def _start(self):
        return await start_child(WORKER, str(os.getpid()), environment=self._environment)

    def _publish(self, view) -> None:
        self._views += 1
        if self._views >= 3:
            self._ready.set()
        self._sink.set_tables(tables(view))

    async def __aenter__(self):
        web = WebOptions(host="127.0.0.1", port=0)
        self.power.start(Configuration(targets=(), benches=(), web=web, power=self._options))
        await self._ready.wait()
        return self

    async def __aexit__(self, *_) -> None:
        await self.power.stop()


async def cost(driver: FakeDriver, gpus: int, every_s: float, seconds: float) -> tuple[float, float, float]:
    """Return the share of a core that the worker and we took, and the worker's memory in MB."""
    async with Running(driver, gpus, every_s) as running:
        child = psutil.Process(running.power.worker_pid)
        begin_s, before, own_s = time.monotonic(), child.cpu_times(), time.process_time()
        await asyncio.sleep(seconds)
        after, length_s = child.cpu_times(), time.monotonic() - begin_s
        worker_s = after.user + after.system - before.user - before.system
        memory = child.memory_full_info().uss / 1e6
        return worker_s / length_s, (time.process_time() - own_s) / length_s, memory


async def errors(driver: FakeDriver, seconds: float, count: int) -> tuple[list[float], int]:
    """Return the relative errors of the valid windows over a saw of power, and how many were not valid."""
    found: list[float] = []
    invalid = 0
    async with Running(driver, 1, 1.0) as running:
        for _ in range(count):
            begin_s = time.monotonic()
            teeth = int((seconds + 1) / SAW_S)
            steps = [(begin_s + SAW_S * i, 700.0 if i % 2 else 300.0) for i in range(teeth)]
            driver.set(power=",".join(f"{at_s!r}:{watts}" for at_s, watts in [(0.0, 300.0), *steps]))
            async with running.power.meter.window(Gpus(uuids=(uuid(0),))) as window:
                await asyncio.sleep(seconds)
            reading = window.reading
            if reading is None or not reading.is_valid:
                invalid += 1
                continue
            ends = [*(at_s for at_s, _ in steps[1:]), float("inf")]
            truth_j = sum(
                watts * max(0.0, min(reading.end_s, end_s) - max(reading.begin_s, at_s))
                for (at_s, watts), end_s in zip(steps, ends, strict=True)
            )
            found.append(reading.joules / truth_j - 1)
    return found, invalid


async def measure(seconds: float, windows: int) -> str:
    """Return the report."""
    load = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        driver = FakeDriver(build(Path(folder)), Path(folder))
        lines = [
            "| GPUs | every | worker, core | service, core | worker's own memory |",
            "|---|---|---|---|---|",
        ]
        for gpus, every_s in ((1, 1.0), (8, 1.0), (8, 0.1)):
            worker, service, memory = await cost(driver, gpus, every_s, seconds)
            lines.append(f"| {gpus} | {every_s:g} s | {worker:.2%} | {service:.2%} | {memory:.0f} MB |")
        lines += ["", "| window | valid | mean error | largest error |", "|---|---|---|---|"]
        for length_s in WINDOWS_S:
            found, invalid = await errors(driver, length_s, windows)
            total = len(found) + invalid
            if found:
                mean, worst = statistics.mean(found), max(map(abs, found))
                lines.append(f"| {length_s:g} s | {len(found)} of {total} | {mean:+.2%} | {worst:.2%} |")
            else:
                lines.append(f"| {length_s:g} s | 0 of {total} | - | - |")
    return "\n".join((conditions(load), "", *lines)) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    report = asyncio.run(measure(options.seconds, options.windows))
    print(report)
    if options.out is not None:
        options.out.write_text(report)


if __name__ == "__main__":
    main()
