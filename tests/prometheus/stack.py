"""Prometheus and Alertmanager of Debian as children on the loopback address."""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self, TypeVar

from benchmarks.service import free_port

Found = TypeVar("Found")
READY_SECONDS = 60.0


def until(look: Callable[[], Found], within_s: float = READY_SECONDS) -> Found:
    """Return the first result that is true.  Raises AssertionError when there is none in time."""
    end_s = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < end_s, f"still {found!r} after {within_s:g} s"
        time.sleep(0.1)
    return found


class Child:
    """A process with an address, which is ready when `/-/ready` answers."""

    def __init__(self, folder: Path, command: list[str], port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._log = folder / f"{Path(command[0]).name}.log"
        self._command = command
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        log = self._stack.enter_context(self._log.open("ab"))
        process = subprocess.Popen(self._command, stdout=log, stderr=log)
        self._stack.callback(_end, process)
        until(lambda: self._is_ready(process))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _is_ready(self, process: "subprocess.Popen[bytes]") -> bool:
        assert process.poll() is None, self._log.read_text()
        try:
            urllib.request.urlopen(f"{self.url}/-/ready", timeout=5).close()
        except (OSError, urllib.error.URLError):
            return False
        return True


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Alertmanager(Child):
    """An Alertmanager that gossips with nobody."""

    def __init__(self, folder: Path, config: Path) -> None:
        port = free_port()
        command = [
            "prometheus-alertmanager",
            f"--config.file={config}",
            f"--storage.path={folder / 'alertmanager'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--cluster.listen-address=",
            "--log.level=warn",
        ]
        super().__init__(folder, command, port)


class Prometheus(Child):
    """A Prometheus without its consoles."""

    def __init__(self, folder: Path, config: Path, *options: str) -> None:
        port = free_port()
        command = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--web.console.templates=/nonexistent",
            "--web.console.libraries=/nonexistent",
            "--log.level=warn",
            *options,
        ]
        super().__init__(folder, command, port)
