"""Slower than it used to be: a kernel against its own past on the same machine with the same software.

A run is slow when its interval of quartiles lies wholly above the usual one and beyond a margin.  Three slow
runs in a row are a regression.  Slow runs are kept out of the history, or it would get used to them; a run
that is not slow ends it.  Without a change of machine or software nothing else ends it: a lasting change that
is wanted shows itself by a new fingerprint, which begins a new history.
"""

import hashlib
import statistics
from dataclasses import dataclass, replace

from exporter.model.observation import DeviceFound

KEPT_RUNS = 20
NEEDED_RUNS = 5
"""Valid runs before anything is decided."""
SLOW_RUNS = 3

ACCELERATOR_MARGIN, METAL_MARGIN, VIRTUAL_MARGIN = 1.05, 1.15, 1.20
"""How far above.  A virtual machine has speeds that it cannot see: its medians wandered by 10 % when idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Quartiles of one run in seconds."""

    q1_s: float
    median_s: float
    q3_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The last runs that were not slow, oldest first, and how many slow ones followed without a break."""

    runs: tuple[Interval, ...] = ()
    slow: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A run against its history."""

    baseline_s: float | None
    """Median of the medians; None until there are enough runs."""
    ratio: float | None
    """This run's median / the baseline; None without one."""
    regressed: bool


def margin(device: DeviceFound) -> float:
    """Return how much slower than usual is still usual on a device."""
    if device.device != "cpu":
        return ACCELERATOR_MARGIN
    return VIRTUAL_MARGIN if device.virtual else METAL_MARGIN


def decide(history: History, run: Interval, slower: float) -> tuple[History, Standing]:
    """Return the history with a valid run added, and how the run stands."""
    if len(history.runs) < NEEDED_RUNS:
        grown = History(runs=(*history.runs, run))
        return grown, Standing(baseline_s=None, ratio=None, regressed=False)
    usual_q3 = statistics.median(r.q3_s for r in history.runs)
    baseline = statistics.median(r.median_s for r in history.runs)
    if run.q1_s > usual_q3 * slower:
        new = replace(history, slow=history.slow + 1)
    else:
        new = History(runs=(*history.runs, run)[-KEPT_RUNS:])
    standing = Standing(baseline_s=baseline, ratio=run.median_s / baseline, regressed=new.slow >= SLOW_RUNS)
    return new, standing


def fingerprint(device: DeviceFound, *, torch_version: str, threads: int, kernel: str, image: str) -> str:
    """Return twelve characters that change with anything that a time depends on besides the code measured.

    ``kernel`` is the operating system's release, ``image`` the version of the exporter.
    """
    parts = (
        *(device.name, device.driver, device.runtime, device.governor, str(device.virtual)),
        *(str(device.partition), str(device.power_limit_w), torch_version, str(threads), kernel, image),
    )
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]
