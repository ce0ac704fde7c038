"""Hours of simulated probing with an incident, for pictures of the boards.

    python -m benchmarks.board_history --hours 3 > history.om
    promtool tsdb create-blocks-from openmetrics history.om tsdb

Requests are drawn at random; what becomes of them (histograms, counters, promises) is what the service makes
of results, through ``Meter``.  The incident: for 25 minutes prod-chat queues and sheds load, and for 6 of
them it is gone.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from exporter.app.meter import Meter, probe_job_name
from exporter.config.load import checked
from exporter.config.parse import parse
from exporter.kernels.suite import SUITES
from exporter.model.clocks import Measured, Phases, Timing, Tokens, TokensFrom
from exporter.model.job import JobKind
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.schedule import Slot
from exporter.model.target import ProbeSpec, Target
from exporter.model.transcript import StampSource
from exporter.probes import KINDS
from exporter.scheduler.job import Job

STEP_S = 15
INCIDENT_S = (2700, 1200)
"""From so long before the end until so long before it."""
OUTAGE_S = (2400, 2040)
SCRAPED = 'instance="10.0.4.7:9780",job="inference-exporter"'
PROBES = """\
      - name: short
        kind: chat
        params: {prompt: "Count from 1 to 40.", max_tokens: 64}
        sla: {ttft: {p99: 500ms}, itl: {p99: 60ms}, tpot: {p99: 25ms}, e2e: {p99: 2s}, availability: 99.5%}
      - name: long
        kind: chat
        every: 30s
        params: {prompt: "Tell a story.", max_tokens: 256}
        sla: {ttft: {p99: 800ms}, tpot: {p99: 30ms}}
"""


@dataclass(frozen=True)
class Kind:
    """How a target behaves: medians in seconds, the spread of their logarithms, the share of failures."""

    ttft_s: float
    tpot_s: float
    spread: float
    failing: float


TARGETS = {
    "prod-chat": ("llama-3-70b", Kind(0.16, 0.0115, 0.22, 0.0004)),
    "provider-b": ("llama-3-70b", Kind(0.27, 0.0165, 0.30, 0.0015)),
    "lab-h200": ("qwen-2.5-7b", Kind(0.045, 0.0062, 0.12, 0.0)),
}


async def _nothing(_slot: Slot) -> None:
    """What a job of this history does."""


ANY_PROBE = Job(name="any", kind=JobKind.PROBE, every_s=15.0, deadline_s=30.0, run=_nothing)


def configuration_text() -> str:
    """The configuration of the simulated exporter."""
    lines = ["defaults: {every: 15s, timeout: 30s}", "targets:"]
    for name, (model, _) in TARGETS.items():
        lines += [f"  - name: {name}", f"    base_url: https://{name}.example.com/v1", f"    model: {model}"]
        lines += ["    prices: {input_per_mtok: 0.6, output_per_mtok: 0.9, currency: USD}"]
        lines += ["    probes:", PROBES.rstrip()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the history to standard output."""
    parser = argparse.ArgumentParser(description="Write simulated hours for pictures of the boards.")
    parser.add_argument("--hours", type=float, default=3.0)
    parser.add_argument("--until", type=float, default=time.time(), help="Unix time of the last sample")
    options = parser.parse_args()
    end_s = int(options.until) // STEP_S * STEP_S
    for line in history(end_s - int(options.hours * 3600), end_s, random.Random(7)):
        sys.stdout.write(line)
    sys.stdout.write("# EOF\n")
    return 0


def history(start_s: int, end_s: int, chance: random.Random) -> Iterator[str]:
    """The lines of the exposition, scrape after scrape."""
    configuration = checked(parse(configuration_text()), KINDS, SUITES, source="history", folder=Path())
    now = [float(start_s)]
    meter = Meter(configuration, unix_s=lambda: now[0])
    meter.started("0.1.0", "", "3.11.9")
    cpu_s = 0.0
    for at_s in range(start_s, end_s, STEP_S):
        now[0] = float(at_s)
        for plan in configuration.targets:
            for spec in plan.probes:
                if (at_s - start_s) % int(spec.every_s) == 0:
                    result = outcome(plan.target, spec, at_s, end_s, chance)
                    meter.probed(probe_job_name(plan.target, spec), result)
                    meter.on_lag(ANY_PROBE, chance.lognormvariate(-6.6, 0.5))
        for _ in range(15):
            meter.on_loop_lag(chance.lognormvariate(-7.6, 0.7))
        cpu_s += chance.uniform(0.15, 0.25)
        yield from stamped(meter.render("").body.decode(), at_s)
        yield f"process_cpu_seconds_total{{{SCRAPED}}} {cpu_s:.2f} {at_s}\n"
        yield f"process_resident_memory_bytes{{{SCRAPED}}} {9.1e7 + chance.uniform(0, 2e6):.0f} {at_s}\n"
        yield f"process_open_fds{{{SCRAPED}}} {chance.randint(21, 27)} {at_s}\n"
        for name, value in (("up", 1.0), ("scrape_duration_seconds", chance.uniform(0.004, 0.009))):
            yield f"{name}{{{SCRAPED}}} {value:.4f} {at_s}\n"
        yield f"scrape_samples_scraped{{{SCRAPED}}} 1312 {at_s}\n"


def outcome(target: Target, spec: ProbeSpec, at_s: int, end_s: int, chance: random.Random) -> ProbeResult:
    """One request's end, well or not."""
    _, kind = TARGETS[target.name]
    before_end_s = end_s - at_s
    queued = target.name == "prod-chat" and INCIDENT_S[0] >= before_end_s > INCIDENT_S[1]
    gone = target.name == "prod-chat" and OUTAGE_S[0] >= before_end_s > OUTAGE_S[1]
    stamp = {"target": target, "spec": spec, "finished_unix_s": float(at_s)}
    failing = 0.12 if queued else kind.failing
    if gone or chance.random() < failing:
        reasons = (
            (Outcome.CONNECT,)
            if gone
            else (Outcome.HTTP_5XX, Outcome.TIMEOUT_FIRST_TOKEN, Outcome.RATE_LIMITED)
        )
        return ProbeResult(outcome=chance.choice(reasons), **stamp)
    slow = chance.uniform(2.0, 5.5) if queued else 1.0
    ttft_s = kind.ttft_s * slow * chance.lognormvariate(0, kind.spread)
    tokens = spec.params.max_tokens - chance.randint(0, 6)
    gaps = tuple(
        Measured(kind.tpot_s * (1 + 0.25 * (slow - 1)) * chance.lognormvariate(0, kind.spread))
        for _ in range(tokens - 1)
    )
    spent_s = sum(gap.value_s for gap in gaps)
    fresh = chance.random() < 0.02
    return ProbeResult(
        outcome=Outcome.OK,
        timing=Timing(
            ttft=Measured(ttft_s),
            ttfc=Measured(ttft_s),
            tpot=Measured(spent_s / len(gaps)),
            e2e=Measured(ttft_s + spent_s + 0.001),
            gaps=gaps,
        ),
        phases=Phases(
            connect_s=0.012 if fresh else None,
            tls_s=0.031 if fresh else None,
            send_s=0.0004,
            wait_s=ttft_s * 0.96,
            receive_s=ttft_s * 0.04 + spent_s,
            total_s=ttft_s + spent_s,
        ),
        tokens=Tokens(input=24, output=tokens, output_from=TokensFrom.USAGE),
        reused=not fresh,
        stamps=StampSource.KERNEL,
        lateness_s=tuple(chance.lognormvariate(-8.3, 0.6) for _ in range(8)),
        **stamp,
    )


def stamped(exposition: str, at_s: int) -> Iterator[str]:
    """The samples as Prometheus would have stored them: with the labels of the scrape, and the time."""
    for line in exposition.splitlines():
        if not line.startswith(("#", "process_")):
            series, _, value = line.rpartition(" ")
            name, brace, labels = series.partition("{")
            yield f"{name}{{{labels[:-1] + ',' if brace else ''}{SCRAPED}}} {value} {at_s}\n"


if __name__ == "__main__":
    sys.exit(main())
