"""The real command as a child process, and what it says."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[2]
UP_S = 60.0
POLL_S = 0.1

T = TypeVar("T")
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Exporter:
    """A running exporter; ``log`` grows while it runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = ""

    @property
    def log(self) -> str:
        return "".join(self._lines)

    def _read(self) -> None:
        assert self.process.stderr is not None
        self._lines.extend(self.process.stderr)

    def wait_until_up(self) -> None:
        def found() -> re.Match[str] | None:
            assert self.process.poll() is None, self.log
            return re.search(r"metrics on (http://\S+)/metrics", self.log)

        match = until(found, UP_S, lambda: f"the exporter did not come up:\n{self.log}")
        self.url = match[1]

    def get(self, path: str, method: str = "GET") -> tuple[int, str]:
        request = urllib.request.Request(self.url + path, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def series(self) -> Series:
        _, text = self.get("/metrics")
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        self._reader.join(10)
        return status


def total(series: Series, name: str, **labels: str) -> float | None:
    """The sum of all series of that name with (at least) these labels; None where there is none."""
    wanted = set(labels.items())
    found = [value for (known, has), value in series.items() if known == name and wanted <= has]
    return sum(found) if found else None


def until(found: Callable[[], T | None], seconds: float, otherwise: Callable[[], str]) -> T:
    """Poll for something truthy."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(POLL_S)
    raise AssertionError(otherwise())


@contextmanager
def started(*arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Exporter]:
    """``inference-exporter ARGUMENTS``, stopped at the end however that comes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "exporter", *arguments],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    exporter = Exporter(process)
    try:
        yield exporter
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        exporter._reader.join(10)
        assert process.stderr is not None
        process.stderr.close()
