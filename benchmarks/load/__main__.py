"""What load clients add to the truth, and what they cost; writes benchmarks/load.md.

    python -m benchmarks.load [--seconds 5] [--streams 1,16,64,256] [--peers VENV] [--out benchmarks/load.md]

The truth server has one core, each client the other.  ``--peers`` is a virtual environment of its own with
locust and llmeter in it; without it those two are left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.host import conditions
from benchmarks.quantiles import quantile
from benchmarks.truth import TrueRequest, TruthServer

HERE = Path(__file__).parent
PACED = ("--ttft-ms", "50", "--ttft-jitter-ms", "10", "--itl-ms", "10")
FAST = ("--ttft-ms", "5", "--ttft-jitter-ms", "10", "--itl-ms", "1")
SERVER_CORE, CLIENT_CORE = 0, 1
GRACE_S = 40.0


@dataclass(frozen=True)
class Client:
    """How a client is started."""

    name: str
    module: str = ""
    mode: str = ""
    peer: bool = False

    def command(self, peers: Path | None, url: str, streams: int, seconds: float, out: str) -> list[str]:
        if self.name == "locust":
            file = str(HERE / "client_locust.py")
            how = ["--headless", "-u", str(streams), "-r", str(streams), "-t", f"{seconds:g}s"]
            return [f"{peers}/bin/locust", "-f", file, *how, "--stop-timeout", "15", "--only-summary"]
        python = f"{peers}/bin/python" if self.peer else sys.executable
        start = [str(HERE / f"{self.module}.py")] if self.peer else ["-m", f"benchmarks.load.{self.module}"]
        mode = [self.mode] if self.mode else []
        return [python, *start, *mode, url, str(streams), f"{seconds:g}", out]


CLIENTS = (
    Client("ours", "client_ours"),
    Client("raw sockets", "client_libraries", "raw"),
    Client("aiohttp", "client_libraries", "aiohttp"),
    Client("openai SDK", "client_libraries", "openai"),
    Client("llmeter", "client_llmeter", peer=True),
    Client("locust", peer=True),
)


@dataclass(frozen=True)
class Cell:
    """One client at one number of streams; errors in ms."""

    requests: int
    ttft: list[float]
    itl: list[float]
    in_flight: float
    per_s: float
    cpu_s_per_1000: float
    rss_mb: float
    invalid: float | None


def run(client: Client, peers: Path | None, streams: int, seconds: float, shape: tuple[str, ...]) -> Cell:
    """Measure one cell."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "out.json")
        with TruthServer(*shape, "--realtime") as server:
            os.sched_setaffinity(server.pid, {SERVER_CORE})
            command = client.command(peers, server.base_url, streams, seconds, out)
            pinned = ["taskset", "-c", str(CLIENT_CORE), "chrt", "--rr", "10", *command]
            environ = os.environ | {"BASE_URL": server.base_url, "OUT": out}
            done = subprocess.run(
                pinned,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=seconds + GRACE_S,
                check=False,
            )
            if not Path(out).exists():
                raise RuntimeError(f"{client.name} wrote nothing: {done.stderr[-600:]}")
            server.stop()
            truth = server.log()
        return cell(json.loads(Path(out).read_text()), truth)


def cell(found: dict, truth: tuple[TrueRequest, ...]) -> Cell:
    """Pair what the client says with what the server wrote down; the first of each connection is left out."""
    by_name = {true.request_id: true for true in truth} | {true.sequence: true for true in truth}
    reuses = any(true.nth_on_connection > 1 for true in truth)
    ttft, itl = [], []
    for request in found["requests"]:
        true = by_name.get(request.get("name") or request.get("sequence"))
        if (
            true is None
            or (true.nth_on_connection == 1 and reuses)
            or true.first_ns is None
            or request["ttft"] is None
        ):
            continue
        if request.get("valid", True):
            ttft.append((request["ttft"] - (true.first_ns - true.received_ns)) / 1e6)
        itl += [(a - b) / 1e6 for a, b in zip(request["gaps"], true.gaps_ns, strict=False)]
    ended = sorted(true.done_ns for true in truth if true.done_ns)
    # Requests a second over the middle half, which no ramp and no tail touches.
    quarter = len(ended) // 4
    middle = ended[quarter : max(quarter + 2, 3 * quarter)]
    span_s = (middle[-1] - middle[0]) / 1e9 if len(middle) > 1 else 0.0
    return Cell(
        requests=len(found["requests"]),
        ttft=ttft,
        itl=itl,
        in_flight=statistics.median(true.in_flight for true in truth) if truth else 0,
        per_s=(len(middle) - 1) / span_s if span_s else 0.0,
        cpu_s_per_1000=found["cpu_s"] / max(1, len(found["requests"])) * 1000,
        rss_mb=found["rss_mb"],
        invalid=found.get("invalid"),
    )


def pair(values: list[float]) -> str:
    """Return median and the 99th percentile of the absolute errors."""
    sizes = [abs(value) for value in values]
    if not sizes:
        return "-"
    return f"{quantile(sizes, 0.5):.2f} / {quantile(sizes, 0.99):.2f}"


def rows(cells: dict[tuple[str, int], Cell], streams: list[int], text: str) -> Iterator[str]:
    """Yield one row a client: ``text`` names what a cell shows."""
    for client in CLIENTS:
        row = [client.name]
        for count in streams:
            one = cells.get((client.name, count))
            row.append("-" if one is None else shown(one, text))
        if any(value != "-" for value in row[1:]):
            yield "| " + " | ".join(row) + " |"


def shown(one: Cell, text: str) -> str:
    """Return what one cell of a table shows."""
    return {
        "ttft": pair(one.ttft),
        "itl": pair(one.itl),
        "flight": f"{one.in_flight:.0f}",
        "rate": f"{one.per_s:,.0f}",
        "cpu": f"{one.cpu_s_per_1000:.2f}",
        "rss": f"{one.rss_mb:.0f}",
    }[text]


TABLES = (
    ("ttft", "Error of TTFT, ms, median / P99"),
    ("itl", "Error of each chunk gap, ms, median / P99"),
    ("flight", "Requests in flight, as the server counted them (median)"),
    ("rate", "Requests a second"),
    ("cpu", "CPU seconds of the client for 1,000 requests"),
    ("rss", "Largest resident memory of the client, MB"),
)
HEAD = """# Load: what the client adds, and what it costs

The truth server (`benchmarks/truth_server`) on core {server}, one client process on core {client}, both
with a real-time priority; a closed loop of streaming chat requests, {tokens} tokens each; {seconds:g} s a
cell, one run. Paced: TTFT 50-60 ms, a chunk every 10 ms. Every figure of a client is held against the
server's record of the same request; the first request of each connection is left out
where connections are kept.
`ours` is the load worker; `raw sockets` an asyncio.Protocol; `aiohttp` and `openai SDK` a loop as their users
write it; `llmeter` and `locust` as installed from PyPI, both over the SDK's synchronous stream.

{conditions}
"""


def report(cells: dict, fast: dict, streams: list[int], seconds: float, load: tuple) -> str:
    """Return the page."""
    parts = [
        HEAD.format(
            server=SERVER_CORE, client=CLIENT_CORE, tokens=32, seconds=seconds, conditions=conditions(load)
        )
    ]
    head = "| client | " + " | ".join(f"{count} streams" for count in streams) + " |"
    ruler = "|---|" + "---:|" * len(streams)
    for text, title in TABLES:
        parts.append("\n".join([f"## {title}", "", head, ruler, *rows(cells, streams, text), ""]))
    parts.append("## Capacity: 256 streams, TTFT 5-15 ms, a chunk a millisecond\n")
    parts.append("| client | requests/s | in flight | CPU s / 1,000 | TTFT error ms | invalid values |")
    parts.append("|---|---:|---:|---:|---:|---:|")
    for client in CLIENTS:
        one = fast.get(client.name)
        if one is not None:
            invalid = "-" if one.invalid is None else f"{one.invalid:.0%}"
            figures = (shown(one, t) for t in ("rate", "flight", "cpu", "ttft"))
            parts.append(f"| {client.name} | {' | '.join(figures)} | {invalid} |")
    parts.append(
        "\nAt capacity every client reads late, and a read then carries several events; `ours` marks such "
        "values\ninvalid and calls the step client limited, the others report them as the server's."
    )
    return "\n".join(parts) + "\n"


def main() -> int:
    """Measure every cell and write the page."""
    parser = argparse.ArgumentParser(description="Hold load clients against the truth.")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--streams", default="1,16,64,256")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--out", type=Path, default=HERE.parent / "load.md")
    options = parser.parse_args()
    streams = [int(count) for count in options.streams.split(",")]
    load_before = os.getloadavg()
    cells: dict[tuple[str, int], Cell] = {}
    fast: dict[str, Cell] = {}
    for client in CLIENTS:
        if client.peer and options.peers is None:
            continue
        for count, shape in [*((count, PACED) for count in streams), (256, FAST)]:
            try:
                one = run(client, options.peers, count, options.seconds, shape)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{client.name} at {count}: {str(error)[-300:]}", file=sys.stderr, flush=True)
                continue
            if shape is FAST:
                fast[client.name] = one
            else:
                cells[client.name, count] = one
            print(
                client.name, count, shown(one, "ttft"), shown(one, "rate"), shown(one, "flight"), flush=True
            )
    options.out.write_text(report(cells, fast, streams, options.seconds, load_before))
    return 0


if __name__ == "__main__":
    sys.exit(main())
