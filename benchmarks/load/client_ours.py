"""Our load worker's own step, with each request kept so that it can be paired with the server's record.

python -m benchmarks.load.client_ours BASE_URL STREAMS SECONDS OUT.json
"""

import gc
import re
import socket
import sys

from benchmarks.load.kept import TOKENS, Kept, write
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
    kept: Kept

    def _read(self, errand: Errand) -> Seen:
        seen = super()._read(errand)
        found = _SEQUENCE(errand.reads[0][2]) if errand.reads else None
        if found and seen.ttft and seen.e2e:
            gaps = [value for value, _ in seen.gaps]
            is_valid = seen.ttft[1] <= 1_000_000 or seen.ttft[1] * 20 <= seen.ttft[0]
            self.kept.requests.append(
                {
                    "sequence": int(found[1]),
                    "ttft": seen.ttft[0],
                    "e2e": seen.e2e[0],
                    "gaps": gaps,
                    "valid": is_valid,
                }
            )
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
        prompts=(Prompt(text="w1 " * 64, max_tokens=TOKENS),),
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
        settle_s=0.5,
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
    kept = run.kept = Kept()
    gc.collect()
    gc.freeze()
    gc.disable()
    kept.begin()
    done = run.run()
    keeper.close()
    poller.close()
    write(
        kept,
        out,
        achieved=done.tally.in_flight_s / done.tally.sending_s,
        invalid=done.tally.invalid / max(1, done.tally.values),
    )


if __name__ == "__main__":
    main()
