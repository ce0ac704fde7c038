"""One probe, now, outside any schedule: what the command ``probe`` runs."""

import asyncio
import time
from collections.abc import Sequence

from exporter.adapters.openai_api import OpenAiApi
from exporter.adapters.wire.loop import new_event_loop
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import KINDS
from exporter.probes.base import Doors


def probe_now(target: Target, specs: Sequence[ProbeSpec]) -> list[ProbeResult]:
    """Run each probe once, one after the other, on a loop that stamps its sockets."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_run(target, specs))


async def _run(target: Target, specs: Sequence[ProbeSpec]) -> list[ProbeResult]:
    api = OpenAiApi()
    doors = Doors(api=api, unix_s=time.time)
    try:
        return [await KINDS[spec.kind].run(target, spec, doors) for spec in specs]
    finally:
        await api.aclose()
