"""How far the exporter's clocks are from the truth.

    python -m benchmarks.accuracy [--streams 16] [--seconds 20] [--out benchmarks/accuracy.md]

Concurrent streaming chat probes run through the product's own path against the truth server, while a scrape
of 5,000 series is rendered every second and, in half of the conditions, the event loop is blocked for 20 ms
every 200 ms.  Each figure is held against the server's record of the same request.  Exit 1 when it misses.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.disturbance import block_loop, scrapes
from benchmarks.host import conditions
from benchmarks.pairing import Observed, Sample, samples, sending_delays_s
from benchmarks.quantiles import quantile
from benchmarks.truth import TruthServer, loopback_certificate
from exporter.adapters.openai_api import OpenAiApi
from exporter.adapters.wire.loop import new_event_loop
from exporter.model.outcome import Outcome
from exporter.model.request import PlainRequest, Request
from exporter.model.target import Connection, KeySource, ProbeSpec, Target, TlsOptions
from exporter.model.transcript import StampSource, Transcript
from exporter.probes import chat
from exporter.probes.base import Api, Doors

SERIES, SCRAPE_EVERY_S = 5000, 1.0
BLOCK_S, BLOCK_EVERY_S = 0.020, 0.200
TOKENS = 32
KEY = "TRUTH_KEY"
SHAPE = ("--ttft-ms", "50", "--ttft-jitter-ms", "10", "--itl-ms", "10", "--realtime")
LARGEST_P99_S = 0.001
CLOCKS = {"ttft": "TTFT", "gap": "chunk gap", "e2e": "E2E"}


@dataclass(frozen=True)
class Condition:
    """What is switched on, and the least share of valid samples that is accepted."""

    tls: bool
    block: bool

    @property
    def name(self) -> str:
        transport = "TLS" if self.tls else "plain"
        return f"{transport}, {'loop blocked' if self.block else 'scrapes only'}"

    def least_valid(self, clock: str) -> float:
        if self.block:
            return 0.80 if clock == "gap" else 0.90
        return 0.98 if clock == "gap" else 0.99


@dataclass(frozen=True)
class Row:
    """One clock under one condition, errors in seconds."""

    condition: Condition
    clock: str
    samples: tuple[Sample, ...]

    @property
    def valid(self) -> list[float]:
        return [abs(sample.error_s) for sample in self.samples if sample.valid]

    @property
    def share(self) -> float:
        return len(self.valid) / len(self.samples)

    @property
    def misses(self) -> list[str]:
        least, p99 = self.condition.least_valid(self.clock), quantile(self.valid, 0.99)
        where = f"{self.condition.name}, {CLOCKS[self.clock]}"
        return [
            *([f"{where}: {self.share:.1%} valid, wanted {least:.0%}"] if self.share < least else []),
            *([f"{where}: p99 error {p99 * 1e3:.3f} ms, wanted < 1 ms"] if not p99 < LARGEST_P99_S else []),
        ]

    def markdown(self) -> str:
        everything = [abs(sample.error_s) for sample in self.samples]
        reading = [abs(sample.reading_error_s) for sample in self.samples]
        cells = [
            self.condition.name,
            CLOCKS[self.clock],
            str(len(self.samples)),
            f"{self.share:.2%}",
            *(_errors(values) for values in (self.valid, everything, reading)),
        ]
        return f"| {' | '.join(cells)} |"


def _errors(values: Sequence[float]) -> str:
    return " / ".join(f"{quantile(values, q) * 1e3:.3f}" for q in (0.5, 0.99, 1.0))


class Recorder:
    """The door to the server, which keeps the last transcript that came through it."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.transcript: Transcript | None = None

    async def send(self, target: Target, spec: ProbeSpec, request: Request | PlainRequest) -> Transcript:
        self.transcript = await self._api.send(target, spec, request)
        return self.transcript


async def stream_of_probes(api: Api, target: Target, end_s: float, delay_s: float) -> list[Observed]:
    """Probe one after the other; the first, which opens the connection, is left out."""
    recorder = Recorder(api)
    doors = Doors(api=recorder, unix_s=time.time)
    spec = ProbeSpec(
        name="chat",
        kind="chat",
        every_s=1.0,
        timeout_s=10.0,
        stall_timeout_s=5.0,
        connection=Connection.REUSE,
        params=chat.Params(max_tokens=TOKENS),
    )
    await asyncio.sleep(delay_s)
    seen = []
    while time.monotonic() < end_s:
        result = await chat.run(target, spec, doors)
        if result.outcome is not Outcome.OK or recorder.transcript is None:
            raise RuntimeError(f"a probe failed: {result.outcome} {result.detail}")
        seen.append(Observed(result, recorder.transcript))
    return seen[1:]


async def probe(target: Target, streams: int, seconds: float, *, block: bool) -> list[Observed]:
    """Run all streams at once, each out of step with the others."""
    api = OpenAiApi(environ={KEY: "none"})
    end_s = time.monotonic() + seconds
    blocker = asyncio.create_task(block_loop(BLOCK_S, BLOCK_EVERY_S)) if block else None
    try:
        parts = await asyncio.gather(
            *(stream_of_probes(api, target, end_s, i * 0.37 / streams) for i in range(streams))
        )
    finally:
        if blocker:
            blocker.cancel()
        await api.aclose()
    return [seen for part in parts for seen in part]


def measure(condition: Condition, streams: int, seconds: float) -> tuple[list[Row], str]:
    """Return the rows of one condition, and a line about what else was seen."""
    with ExitStack() as stack:
        files = stack.enter_context(loopback_certificate()) if condition.tls else None
        server = stack.enter_context(TruthServer(*SHAPE, certificate=files[:2] if files else None))
        target = Target(
            name="truth",
            base_url=server.base_url,
            model="mock",
            key=KeySource(env=KEY),
            tls=TlsOptions(ca_file=str(files[2])) if files else TlsOptions(),
        )
        rendering_s = stack.enter_context(scrapes(SERIES, SCRAPE_EVERY_S))
        cpu_s, start_s = time.process_time(), time.monotonic()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            observed = runner.run(probe(target, streams, seconds, block=condition.block))
        cores = (time.process_time() - cpu_s) / (time.monotonic() - start_s)
        server.stop()
        found = tuple(samples(observed, server.log()))
        outbound_s = sending_delays_s(observed, server.log())
        writes_s = [true.longest_write_ns / 1e9 for true in server.log()]
    kernel = sum(seen.result.stamps is StampSource.KERNEL for seen in observed) / len(observed)
    note = (
        f"- {condition.name}: {len(observed)} requests, {kernel:.0%} with kernel stamps, {cores:.2f} cores; "
        f"rendering {len(rendering_s)} scrapes took {_errors(rendering_s)} ms; "
        f"request sent to request received {_errors(outbound_s)} ms; "
        f"the server's longest write of a request {_errors(writes_s)} ms (all p50 / p99 / max)"
    )
    rows = [Row(condition, clock, tuple(s for s in found if s.clock == clock)) for clock in CLOCKS]
    return rows, note


REPORT = """# Accuracy of the exporter's clocks

{streams} concurrent streaming chat probes (SDK, wire, timeline: the product's own path), {tokens} tokens
each, TTFT 50-60 ms, 10 ms a chunk, {seconds:.0f} s a condition, one process. A scrape of {series:,} series
is rendered in a thread every second throughout; "loop blocked" adds a {block:.0f} ms block of the event loop
every {every:.0f} ms. Each figure is held against the record that `benchmarks/truth_server` keeps of the same
request: the time from having the whole request to just before the write. The first request of each stream,
which opens the connection, is left out. The server runs as SCHED_FIFO where it may, the exporter never
does.

{conditions}

Error: |reported - true| in ms, p50 / p99 / max. *Valid* samples are the ones that the exporter observes in
its histograms; the rest it counts as invalid. *Reading time* is what the same client would report if it
stamped when it read the bytes. The server's clock starts when it has the request, so an error of TTFT and
E2E includes the way there.

| condition | clock | n | valid | error, valid | error, all | error of reading time |
|---|---|---|---|---|---|---|
{rows}

Wanted: p99 of valid below 1 ms; valid at least 99 % of TTFT and E2E and 98 % of gaps, with the block 90 %
and 80 %. **{verdict}**

{notes}
"""


def main() -> int:
    """Measure every condition, write the report, and return the exit code."""
    parser = argparse.ArgumentParser(description="Hold the exporter's clocks against the truth.")
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each of the four conditions")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "accuracy.md")
    options = parser.parse_args()

    load_before = os.getloadavg()
    rows: list[Row] = []
    notes = []
    for condition in (Condition(tls, block) for tls in (False, True) for block in (False, True)):
        measured, note = measure(condition, options.streams, options.seconds)
        rows += measured
        notes.append(note)
        print(*(row.markdown() for row in measured), note, sep="\n", flush=True)
    misses = [miss for row in rows for miss in row.misses]
    report = REPORT.format(
        streams=options.streams,
        seconds=options.seconds,
        tokens=TOKENS,
        series=SERIES,
        block=BLOCK_S * 1e3,
        every=BLOCK_EVERY_S * 1e3,
        conditions=conditions(load_before),
        rows="\n".join(row.markdown() for row in rows),
        verdict="Missed: " + "; ".join(misses) + "." if misses else "Held.",
        notes="\n".join(notes),
    )
    options.out.write_text(report)
    print(*misses, sep="\n", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
