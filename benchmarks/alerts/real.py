"""Histories in a real Prometheus: backfilled blocks and the committed rule, evaluation by evaluation."""

import json
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.alerts.candidates import CONFIRMED, EVALUATION_S, PLAIN
from benchmarks.alerts.expand import condition
from benchmarks.alerts.histories import Probing, Service, blips, degrading, independent, probe
from benchmarks.alerts.replica import Scraped
from benchmarks.alerts.simulate import WARM_S
from benchmarks.service import free_port
from exporter.metrics.catalogue import sla

EPOCH_S = 1_699_920_000
LENGTH_S = WARM_S + 18 * 3600.0
CHANGE_S = WARM_S + 3600.0
FAMILIES = {
    "requests": sla.REQUESTS,
    "breaches": sla.BREACHES,
    "runs": sla.BREACH_RUNS,
    "confirmations": sla.CONFIRMATIONS,
    "confirmed_breaches": sla.CONFIRMATION_BREACHES,
    "confirmed_runs": sla.CONFIRMATION_RUNS,
}


@dataclass(frozen=True)
class Agreement:
    """How many evaluations agree, and in how many either fires."""

    evaluations: int
    firing: int
    differing: int


def services(rng: np.random.Generator) -> dict[str, tuple[Service, Probing]]:
    """Return the histories that are compared: degraded and bursty, with and without confirmation."""
    good = independent(rng, 0.002)
    found: dict[str, tuple[Service, Probing]] = {}
    for every_s in (15.0, 60.0):
        plain, confirming = Probing(every_s), Probing(every_s, 3.0)
        for rate in (0.05, 0.2, 0.5, 1.0):
            service = degrading(good, independent(rng, rate), CHANGE_S)
            found[f"{every_s:g}s-{rate:g}"] = (service, plain)
            found[f"{every_s:g}s-{rate:g}-confirmed"] = (service, confirming)
        runs = blips(rng, 0.03, 3 * every_s, every_s, LENGTH_S)
        half = blips(rng, 0.03, 90.0, 15.0, LENGTH_S, cover=0.5)
        found[f"{every_s:g}s-kept"] = (independent(rng, 0.01), confirming)
        found[f"{every_s:g}s-runs"] = (runs, plain)
        found[f"{every_s:g}s-half-confirmed"] = (half, confirming)
    return found


def compare() -> Agreement:
    """Backfill, query and count.  Raises CalledProcessError when promtool refuses the samples."""
    rng = np.random.default_rng(3)
    at_s = np.arange(WARM_S, LENGTH_S - EVALUATION_S, EVALUATION_S)
    histories = {
        name: (Scraped(probe(rng, service, probing, LENGTH_S), at_s, LENGTH_S), bool(probing.confirm_every_s))
        for name, (service, probing) in services(rng).items()
    }
    with tempfile.TemporaryDirectory(prefix="alerts-") as folder, _prometheus(Path(folder), histories) as url:
        answers = _range(url, condition("InferenceSLABreach"), at_s)
    evaluations = firing = differing = 0
    for name, (seen, confirms) in histories.items():
        rule = (CONFIRMED if confirms else PLAIN)["**InferenceSLABreach**"]
        ours = rule(seen)
        theirs = np.isin(np.round(at_s), np.round(answers.get(name, np.array([]))))
        evaluations += len(at_s)
        firing += int((ours | theirs).sum())
        differing += int((ours != theirs).sum())
    return Agreement(evaluations, firing, differing)


def _samples(histories: dict[str, tuple[Scraped, bool]]) -> Iterator[str]:
    for key, family in FAMILIES.items():
        yield f"# TYPE {family.name.removesuffix('_total')} counter"
        for name, (seen, confirms) in histories.items():
            if confirms or key in {"requests", "breaches", "runs"}:
                yield from _lines(family.name, name, seen, seen.series(key))
    yield f"# TYPE {sla.CONSECUTIVE.name} gauge"
    for name, (seen, _) in histories.items():
        yield from _lines(sla.CONSECUTIVE.name, name, seen, seen.series("row"))
    yield f"# TYPE {sla.OBJECTIVE.name} gauge"
    for name, (seen, _) in histories.items():
        yield from _lines(sla.OBJECTIVE.name, name, seen, np.full(len(seen.scrapes_s), 0.99))
    yield "# EOF\n"


def _lines(metric: str, name: str, seen: Scraped, values: np.ndarray) -> Iterator[str]:
    head = f'{metric}{{target="{name}",model="m",probe="p",sli="ttft_p99"}}'
    for at_s, value in zip(seen.scrapes_s, values, strict=True):
        yield f"{head} {value:.10g} {EPOCH_S + at_s:.0f}"


@contextmanager
def _prometheus(folder: Path, histories: dict[str, tuple[Scraped, bool]]) -> Iterator[str]:
    text = folder / "history.om"
    text.write_text("\n".join(_samples(histories)))
    tsdb = folder / "tsdb"
    blocks = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", "--max-block-duration=96h"]
    subprocess.run([*blocks, str(text), str(tsdb)], check=True, stdout=subprocess.DEVNULL)
    config = folder / "prometheus.yml"
    config.write_text("global: {scrape_interval: 15s}\n")
    port = free_port()
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={tsdb}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.console.templates=/nonexistent",
        "--web.console.libraries=/nonexistent",
        "--query.max-samples=500000000",
        "--query.timeout=10m",
        "--log.level=error",
    ]
    process = subprocess.Popen(command)
    try:
        _wait(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _wait(url: str) -> None:
    end_s = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{url}/-/ready", timeout=5).close()
        except OSError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.2)
        else:
            return


def _range(url: str, expr: str, at_s: np.ndarray) -> dict[str, np.ndarray]:
    """Return the times at which each target has a value, in seconds of the history."""
    found: dict[str, list[float]] = {}
    for part in np.array_split(at_s, 12):
        query = {"query": expr, "start": EPOCH_S + part[0], "end": EPOCH_S + part[-1], "step": EVALUATION_S}
        body = urllib.parse.urlencode(query).encode()
        with urllib.request.urlopen(f"{url}/api/v1/query_range", body, timeout=600) as response:
            series = json.load(response)["data"]["result"]
        for one in series:
            times = [float(at) - EPOCH_S for at, _ in one["values"]]
            found.setdefault(one["metric"]["target"], []).extend(times)
    return {name: np.array(times) for name, times in found.items()}
