"""The exporter as a child process, seen from outside: its own /metrics and the kernel's accounts of it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from exporter.metrics.family import Family

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """What the process has used by now."""

    at_s: float
    cpu_s: float
    rss_bytes: int
    descriptors: int


class Service:
    """A running exporter."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self._url = f"http://127.0.0.1:{port}"

    def usage(self) -> Usage:
        """Read /proc.  Raises FileNotFoundError when the process has ended."""
        folder = Path("/proc") / str(self._process.pid)
        ticks = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
        return Usage(
            at_s=time.monotonic(),
            cpu_s=sum(map(int, ticks)) / _TICKS_A_SECOND,
            rss_bytes=int((folder / "statm").read_text().split()[1]) * _PAGE_BYTES,
            descriptors=sum(1 for _ in (folder / "fd").iterdir()),
        )

    def exposition(self) -> str:
        """Fetch /metrics; reading it costs more than fetching it, so that is left for later."""
        with urllib.request.urlopen(f"{self._url}/metrics", timeout=30) as response:
            return bytes(response.read()).decode()

    def wait_until_up(self) -> None:
        """Return when it answers.  Raises RuntimeError when it ends or takes too long."""
        end_s = time.monotonic() + START_SECONDS
        while time.monotonic() < end_s and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self._url}/-/healthy", timeout=5).close()
            except OSError:
                time.sleep(0.2)
            else:
                return
        raise RuntimeError(
            f"the service did not answer on {self._url} within {START_SECONDS:.0f} s; see above"
        )


class Scrape:
    """One exposition, summed over all labels but the ones that are asked about."""

    def __init__(self, text: str) -> None:
        self._samples = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def total(self, family: Family, suffix: str = "") -> float:
        """Return the sum of all series of that name."""
        return sum(sample.value for sample in self._samples if sample.name == family.name + suffix)

    def by_label(self, family: Family, label: str) -> dict[str, float]:
        """Return the sums by the values of one label, zeros left out."""
        sums: dict[str, float] = {}
        for sample in self._samples:
            if sample.name == family.name and sample.value:
                key = sample.labels[label]
                sums[key] = sums.get(key, 0.0) + sample.value
        return sums

    def buckets(self, family: Family) -> dict[float, float]:
        """Return the cumulative counts of a histogram by upper bound, rising."""
        sums: dict[float, float] = {}
        for sample in self._samples:
            if sample.name == f"{family.name}_bucket":
                bound = float(sample.labels["le"])
                sums[bound] = sums.get(bound, 0.0) + sample.value
        return dict(sorted(sums.items()))


def free_port() -> int:
    """Return a port of the loopback address that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(config: Path, port: int, environment: dict[str, str]) -> Iterator[Service]:
    """Start ``python -m exporter run`` and stop it with SIGTERM; its standard error is ours."""
    command = [sys.executable, "-m", "exporter", "run", "--config", str(config)]
    command += ["--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, env=os.environ | environment, stdout=subprocess.DEVNULL)
    service = Service(process, port)
    try:
        service.wait_until_up()
        yield service
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
