"""What a client keeps of each request, and the file in which it hands it over; standard library only."""

import json
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

TOKENS = 32


@dataclass
class Kept:
    """Requests by a name that the server's log knows too."""

    requests: list[dict[str, object]] = field(default_factory=list)
    cpu_s: float = 0.0
    began_ns: int = 0
    named: int = 0

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start the account of CPU time: imports are done."""
        self.cpu_s, self.began_ns = time.process_time(), time.monotonic_ns()

    def next_name(self) -> str:
        self.named += 1
        return f"r{self.named}"

    def add(self, name: str, sent_ns: int, at: list[int], over_ns: int) -> None:
        gaps = [b - a for a, b in pairwise(at)]
        ttft = at[0] - sent_ns if at else None
        self.requests.append({"name": name, "ttft": ttft, "e2e": over_ns - sent_ns, "gaps": gaps})


def write(kept: Kept, out: str, **more: object) -> None:
    """Write everything to a file."""
    cpu_s, wall_s = time.process_time() - kept.cpu_s, (time.monotonic_ns() - kept.began_ns) / 1e9
    # Not getrusage: what it gives begins with the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    rss = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    with open(out, "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump({"requests": kept.requests, "cpu_s": cpu_s, "wall_s": wall_s, "rss_mb": rss} | more, file)
