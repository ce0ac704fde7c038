"""The process that talks to the devices' drivers: says what it finds once a tick, until its input closes.

Started by ``exporter.power``, never imported.  Whatever hangs or crashes here costs the service a gap.
"""

import os
import queue
import sys
import threading
import time
from collections.abc import Sequence

from exporter.adapters.amdsmi import AmdSmi
from exporter.adapters.hwmon import Hwmon
from exporter.adapters.power_source import Absent, PowerSource
from exporter.adapters.rapl import Rapl
from exporter.model.power import Snapshot, Source
from exporter.model.power_protocol import (
    Edge,
    EdgeFound,
    Edges,
    Garbled,
    Order,
    Pace,
    order_from_json,
    to_json,
)
from exporter.workers.channel import Channel, die_with_parent

_WRONG_BINDING = (
    "the module pynvml is missing, or not nvidia-ml-py's but another package's: "
    "pip uninstall pynvml, then pip install --force-reinstall nvidia-ml-py"
)


def main(parent_pid: int) -> None:
    """Sample until the parent closes the line, then let the drivers go."""
    die_with_parent(parent_pid)
    channel = Channel()
    sampling = Sampling(channel, (_nvml(), AmdSmi(), Rapl(), Hwmon()))
    sampling.run(_orders(channel))
    # A call that hangs would hold up the usual end.
    os._exit(0)


class Sampling:
    """Samples every source at a pace, and looks for ticks when asked to."""

    def __init__(self, channel: Channel, sources: Sequence[PowerSource]) -> None:
        self._channel = channel
        self._sources = sources
        self._pace = Pace(every_s=1.0)

    def run(self, orders: "queue.SimpleQueue[Order | None]") -> None:
        """Sample and follow orders until the order None."""
        next_s = time.monotonic()
        while True:
            try:
                order = orders.get(timeout=max(0.0, next_s - time.monotonic()))
            except queue.Empty:
                self._say(self._sample())
                # What a slow driver took is not made up for.
                next_s = max(next_s + self._pace.every_s, time.monotonic())
                continue
            if order is None:
                break
            if isinstance(order, Pace):
                self._pace = order
                next_s = time.monotonic()
            else:
                self._say(self._edges(order))
        for source in self._sources:
            source.close()

    def _sample(self) -> Snapshot:
        at_s = time.monotonic()
        found = [source.sample(processes=self._pace.processes) for source in self._sources]
        return Snapshot(
            at_s=at_s,
            sources=tuple(each.state for each in found),
            gpus=tuple(gpu for each in found for gpu in each.gpus),
            zones=tuple(zone for each in found for zone in each.zones),
            xids=tuple(xid for each in found for xid in each.xids),
        )

    def _edges(self, order: Edge) -> Edges:
        found = [edge for source in self._sources for edge in source.edges(order.meters)]
        known = {edge.meter for edge in found}
        now_s = time.monotonic()
        found += [
            EdgeFound(meter=meter, at_s=now_s, within_s=0.0, energy_j=None, ticked=False)
            for meter in order.meters
            if meter not in known
        ]
        return Edges(number=order.number, found=tuple(found))

    def _say(self, word: Snapshot | Edges) -> None:
        self._channel.answer(to_json(word))


def _nvml() -> PowerSource:
    """Return NVML, unless what is installed under the binding's name is something else."""
    try:
        from exporter.adapters.nvml.sampler import Nvml  # noqa: PLC0415 - may not be importable
    except (ImportError, AttributeError) as error:
        said = f"{type(error).__name__}: {error}"[:200]
        return Absent(Source.NVML, f"{_WRONG_BINDING} ({said})")
    return Nvml()


def _orders(channel: Channel) -> "queue.SimpleQueue[Order | None]":
    """Return a queue that fills with the orders on standard input, and ends with None."""
    orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()

    def listen() -> None:
        for data in channel.questions():
            order = order_from_json(data)
            if isinstance(order, Garbled):
                print(order.detail, file=sys.stderr)
                break
            orders.put(order)
        orders.put(None)

    threading.Thread(target=listen, name="orders", daemon=True).start()
    return orders


if __name__ == "__main__":
    main(int(sys.argv[1]))
