"""Our load worker's own step, with each request kept so that it can be paired with the server's record.

python -m benchmarks.load.client_ours BASE_URL STREAMS SECONDS OUT.json
"""

import gc
import json
import re
import socket
import sys
import time

from exporter.adapters.wire import kernel
from exporter.adapters.wire.errand import Errand
from exporter.adapters.wire.lane import Lane
from exporter.adapters.wire.poller import Poller
from exporter.adapters.wire.request import split_url
from exporter.adapters.wire.resolve import system_lookup
from exporter.model.load_answer import Seen
from exporter.model.load_plan import Api, Breaker, Mode, Prompt
from exporter.model.load_protocol import Setup, StepOrder
from exporter.model.target import TlsOptions
from exporter.workers.load_worker_requests import Requests
from exporter.workers.load_worker_step import StepRun

_SEQUENCE = re.compile(rb'"id":"chatcmpl-(\d+)"').search


class KeptRun(StepRun):
    kept: list[tuple[int, int | None, int | None, list[int], bool]]

    def _read(self, errand: Errand) -> Seen:
        seen = super()._read(errand)
        found = _SEQUENCE(errand.reads[0][2]) if errand.reads else None
        if found and errand.reused:
            ttft = seen.ttft[0] if seen.ttft else None
            wide = seen.ttft is not None and seen.ttft[1] > 1_000_000 and seen.ttft[1] * 20 > seen.ttft[0]
            gaps = [value for value, _ in seen.gaps]
            self.kept.append((int(found[1]), ttft, seen.e2e[0] if seen.e2e else None, gaps, not wide))
        return seen


def main() -> None:
    base_url, streams, seconds, out = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    setup = Setup(
        base_url=base_url,
        model="mock",
        key=None,
        tls=TlsOptions(),
        api=Api.CHAT,
        stream=True,
        temperature=0.0,
        prompts=(Prompt(text="w1 " * 64, max_tokens=32),),
        good=(),
        timeout_s=30.0,
        seed=1,
    )
    order = StepOrder(
        mode=Mode.CLOSED,
        clients=streams,
        rate=None,
        requests=10**9,
        seconds=seconds,
        settle_s=1.0,
        tokens=10**12,
        breaker=Breaker(),
    )
    origin, _ = split_url(base_url)
    addresses = system_lookup(origin.host, origin.port)
    keeper = socket.socket()
    kernel.ask_for_stamps(keeper)
    poller = Poller()
    run = KeptRun(
        setup,
        order,
        Requests(setup),
        poller=poller,
        new_lane=lambda owner: Lane(poller, owner, addresses, None, origin.host),
        say=lambda _: None,
    )
    run.kept = []
    gc.collect()
    gc.freeze()
    gc.disable()
    cpu_s, wall_s = time.process_time(), time.monotonic()
    done = run.run()
    cpu_s, wall_s = time.process_time() - cpu_s, time.monotonic() - wall_s
    keeper.close()
    poller.close()
    tally = done.tally
    with open(out, "w") as file:  # noqa: PTH123
        json.dump(
            {
                "requests": run.kept,
                "cpu_s": cpu_s,
                "wall_s": wall_s,
                "done": tally.ended + tally.settle_requests,
                "achieved": tally.in_flight_s / tally.sending_s,
                "qps": tally.ended / tally.wall_s,
                "invalid": tally.invalid / max(1, tally.values),
                "late_p99": tally.lateness.percentile_s(0.99),
                "outcomes": [(e.outcome, e.count) for e in tally.outcomes],
                "user": tally.user_stamps,
            },
            file,
        )


if __name__ == "__main__":
    main()
