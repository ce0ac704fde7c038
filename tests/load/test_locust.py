"""Locust's master and workers drive our load workers and write the same run file."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.truth import TruthServer
from exporter.load.runfile import read_run

FILE = Path(__file__).parents[2] / "exporter" / "load" / "locustfile.py"
Start = Callable[..., TruthServer]


def locust(environ: dict[str, str], *arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "locust", "-f", str(FILE), *arguments]
    return subprocess.Popen(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.cc
@pytest.mark.locust
@pytest.mark.slow
def test_one_master_and_two_workers_write_one_run_file(start: Start, tmp_path: Path) -> None:
    server = start("--ttft-ms", "20", "--itl-ms", "2")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    out = tmp_path / "run.json"
    environ = os.environ | {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_MODEL": "m",
        "LOAD_MAX_TOKENS": "4",
        "LOAD_OUT": str(out),
        "PYTHONPATH": os.pathsep.join([str(FILE.parents[2]), *sys.path]),
    }
    workers = [locust(environ, "--worker", "--master-port", port) for _ in range(2)]
    master = locust(
        environ,
        *(
            "--master",
            "--headless",
            "--expect-workers",
            "2",
            "-u",
            "6",
            "-r",
            "6",
            "-t",
            "4s",
            "--stop-timeout",
            "40",
        ),
        *("--master-bind-host", "127.0.0.1", "--master-bind-port", port),
    )
    try:
        said, _ = master.communicate(timeout=90)
        assert out.exists(), said
        for worker in workers:
            worker.communicate(timeout=30)
    finally:
        for process in (master, *workers):
            process.kill()
            process.communicate()
    server.stop()
    run = read_run(out)
    (step,) = run.steps
    assert (run.plan.workers, step.level, run.stopped) == (2, 6.0, "")
    assert step.tally.succeeded > 20
    assert step.tally.output_tokens == 4 * step.tally.succeeded
    assert max(true.in_flight for true in server.log()) == 6
