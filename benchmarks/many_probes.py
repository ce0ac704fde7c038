"""What a thousand probes cost, and whether they start on time.

    python -m benchmarks.many_probes [--minutes 10] [--targets 100] [--probes 10] [--out FILE]

Starts the real service with a generated configuration against the truth server, scrapes it every 15 s as
Prometheus would, and takes everything from its /metrics and from /proc.  Exit 1 when it misses.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.host import conditions
from benchmarks.quantiles import quantile
from benchmarks.service import Scrape, Service, Usage, free_port, running
from benchmarks.truth import TruthServer
from exporter.metrics.catalogue import probe, schedule

EVERY_S = 10
TOKENS = 32
SHAPE = ("--ttft-ms", "50", "--itl-ms", "7.5", "--itl-jitter-ms", "2.5")
SAMPLE_S = 5.0
SCRAPE_S = 15.0
WARM_UP_S = 60.0
BASELINE_S = 60.0
SERVER_SPARE_S = 600
LARGEST_LAG_S = 0.050
LARGEST_CPU_S = 0.005
LARGEST_DRIFT_BYTES = 5e6
DESCRIPTOR_SLACK = 1.1
"""Kept connections follow how many probes happen to overlap; a leak would be one a probe."""
MB = 1e6


@dataclass(frozen=True)
class Run:
    """What was seen from the end of the warm-up to the end."""

    before: Scrape
    after: Scrape
    usage: Sequence[Usage]
    scrapes_s: Sequence[float] = ()
    scrape_bytes: int = 0

    @property
    def probes(self) -> float:
        return self.after.total(probe.PROBES) - self.before.total(probe.PROBES)

    @property
    def failures(self) -> dict[str, float]:
        return self.after.by_label(probe.FAILED, "reason")

    @property
    def missed(self) -> dict[str, float]:
        return self.after.by_label(schedule.MISSED, "cause")

    @property
    def seconds(self) -> float:
        return self.usage[-1].at_s - self.usage[0].at_s

    @property
    def cpu_s(self) -> float:
        return self.usage[-1].cpu_s - self.usage[0].cpu_s

    @property
    def drift_bytes(self) -> float:
        """Mean of the last minute minus mean of the first."""
        first, last = self.usage[0].at_s, self.usage[-1].at_s
        early = [u.rss_bytes for u in self.usage if u.at_s <= first + BASELINE_S]
        late = [u.rss_bytes for u in self.usage if u.at_s >= last - BASELINE_S]
        return sum(late) / len(late) - sum(early) / len(early)

    @property
    def slope_bytes_a_second(self) -> float:
        """Least-squares slope of the resident set."""
        mean_t = sum(u.at_s for u in self.usage) / len(self.usage)
        mean_rss = sum(u.rss_bytes for u in self.usage) / len(self.usage)
        spread = sum((u.at_s - mean_t) ** 2 for u in self.usage)
        return sum((u.at_s - mean_t) * (u.rss_bytes - mean_rss) for u in self.usage) / spread

    @property
    def lag_buckets(self) -> dict[float, float]:
        before = self.before.buckets(schedule.LAG)
        return {bound: n - before[bound] for bound, n in self.after.buckets(schedule.LAG).items()}

    def lag_p99_s(self) -> tuple[float, float]:
        """Return the bounds of the bucket that holds the 99th percentile of start lateness."""
        rank = 0.99 * max(self.lag_buckets.values())
        below = 0.0
        for bound, count in self.lag_buckets.items():
            if count >= rank:
                return below, bound
            below = bound
        return below, float("inf")

    @property
    def descriptors(self) -> tuple[int, int]:
        """Largest number in the first minute and in the last."""
        first, last = self.usage[0].at_s, self.usage[-1].at_s
        early = max(u.descriptors for u in self.usage if u.at_s <= first + BASELINE_S)
        return early, max(u.descriptors for u in self.usage if u.at_s >= last - BASELINE_S)

    def misses(self, configured: int) -> list[str]:
        """Say what was promised and not kept."""
        cpu_ms, lag_s = self.cpu_s / self.probes * 1e3, self.lag_p99_s()[1]
        early, late = self.descriptors
        wanted = self.seconds / EVERY_S * configured
        checks = (
            (lag_s <= LARGEST_LAG_S, f"start lateness p99 up to {lag_s * 1e3:g} ms, wanted < 50 ms"),
            (cpu_ms < LARGEST_CPU_S * 1e3, f"{cpu_ms:.2f} ms of CPU a probe, wanted < 5 ms"),
            (self.drift_bytes < LARGEST_DRIFT_BYTES, f"RSS grew {self.drift_bytes / MB:.1f} MB, wanted < 5"),
            (late <= early * DESCRIPTOR_SLACK, f"descriptors grew from {early} to {late}"),
            (self.probes >= 0.99 * wanted, f"{self.probes:.0f} probes where {wanted:.0f} were due"),
            (not self.failures, f"failures: {self.failures}"),
            (not self.missed, f"slots without a measurement: {self.missed}"),
        )
        return [miss for kept, miss in checks if not kept]


def configuration(base_url: str, targets: int, probes: int) -> str:
    """Return a configuration; JSON is YAML."""
    params = {"prompt": "Count.", "max_tokens": TOKENS}
    kinds = [{"name": f"p{n}", "kind": "chat", "params": params} for n in range(probes)]
    every = [
        {"name": f"t{n}", "base_url": base_url, "model": "mock", "api_key_env": "BENCH_KEY", "probes": kinds}
        for n in range(targets)
    ]
    return json.dumps({"defaults": {"every": f"{EVERY_S}s", "timeout": "9s"}, "targets": every})


def watch(service: Service, seconds: float) -> Run:
    """Warm up, then sample /proc and scrape until the time is over."""
    time.sleep(WARM_UP_S)
    before = service.exposition()
    usage, scrapes_s = [service.usage()], []
    next_scrape_s = usage[0].at_s + SCRAPE_S
    while usage[-1].at_s - usage[0].at_s < seconds:
        time.sleep(SAMPLE_S)
        usage.append(service.usage())
        if usage[-1].at_s >= next_scrape_s:
            start_s = time.monotonic()
            service.exposition()
            scrapes_s.append(time.monotonic() - start_s)
            next_scrape_s += SCRAPE_S
    # As at the beginning, the last account comes right after a scrape, so that both span the same time.
    after = service.exposition()
    usage.append(service.usage())
    return Run(Scrape(before), Scrape(after), usage, scrapes_s, len(after))


REPORT = """# A thousand probes on one process

`python -m exporter run` with {configured} probes ({targets} targets of {probes}) every {every} s, {tokens}
tokens each, TTFT 50 ms, 5-10 ms a chunk, against `benchmarks/truth_server`; scraped every {scrape:.0f} s.
{seconds:.0f} s were measured after {warm_up:.0f} s of warm-up; everything is from the service's own
`/metrics` and from `/proc`.

{conditions}

| what | measured | wanted |
|---|---|---|
| probes | {n:.0f} ({rate:.1f} a second), failures {failures}, missed {missed} | as configured, none, none |
| start lateness, p99 | {lag_low:g}-{lag_high:g} ms (histogram bucket); {within} | < 50 ms |
| CPU a probe, scrapes included | {cpu:.2f} ms ({cores:.2f} cores) | < 5 ms |
| resident set, first minute to last | {drift:+.2f} MB ({slope:+.2f} MB/h), {rss:.1f} MB at last | < 5 MB |
| scrape | {scrape_bytes:.1f} MB in {scrape_p50:.2f} s (median of {scrapes}), {scrape_max:.2f} s at most | |
| file descriptors, most in the first and in the last minute | {fd_early}, {fd_late} | flat |

**{verdict}**
"""


def report(run: Run, targets: int, probes: int, load_before: tuple[float, float, float]) -> str:
    """Return the Markdown page."""
    low, high = run.lag_p99_s()
    total = max(run.lag_buckets.values())
    shares = {b: n / total for b, n in run.lag_buckets.items() if b in {0.003, 0.01, 0.03, 0.05, 0.1}}
    misses = run.misses(targets * probes)
    return REPORT.format(
        configured=targets * probes,
        targets=targets,
        probes=probes,
        every=EVERY_S,
        tokens=TOKENS,
        scrape=SCRAPE_S,
        seconds=run.seconds,
        warm_up=WARM_UP_S,
        conditions=conditions(load_before),
        n=run.probes,
        rate=run.probes / run.seconds,
        failures=run.failures or "none",
        missed=run.missed or "none",
        lag_low=low * 1e3,
        lag_high=high * 1e3,
        within=", ".join(f"{share:.2%} within {bound * 1e3:g} ms" for bound, share in shares.items()),
        cpu=run.cpu_s / run.probes * 1e3,
        cores=run.cpu_s / run.seconds,
        drift=run.drift_bytes / MB,
        slope=run.slope_bytes_a_second * 3600 / MB,
        rss=run.usage[-1].rss_bytes / MB,
        scrape_bytes=run.scrape_bytes / MB,
        scrapes=len(run.scrapes_s),
        scrape_p50=quantile(run.scrapes_s, 0.5),
        scrape_max=quantile(run.scrapes_s, 1),
        fd_early=run.descriptors[0],
        fd_late=run.descriptors[1],
        verdict="Missed: " + "; ".join(misses) + "." if misses else "Held.",
    )


def main() -> int:
    """Run, write the report, and return the exit code."""
    parser = argparse.ArgumentParser(description="Run many probes on one process and see what they cost.")
    parser.add_argument("--minutes", type=float, default=10.0, help="measured, after a minute of warm-up")
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--probes", type=int, default=10, help="of each target")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "many_probes.md")
    options = parser.parse_args()

    load_before = os.getloadavg()
    seconds = options.minutes * 60
    lifetime_s = WARM_UP_S + seconds + SERVER_SPARE_S
    with (
        TruthServer(*SHAPE, "--max-seconds", str(lifetime_s)) as server,
        tempfile.TemporaryDirectory(prefix="many-probes-") as folder,
    ):
        config = Path(folder) / "config.yml"
        config.write_text(configuration(server.base_url, options.targets, options.probes))
        with running(config, free_port(), {"BENCH_KEY": "none"}) as service:
            run = watch(service, seconds)
    page = report(run, options.targets, options.probes, load_before)
    options.out.write_text(page)
    print(page)
    return 1 if run.misses(options.targets * options.probes) else 0


if __name__ == "__main__":
    sys.exit(main())
