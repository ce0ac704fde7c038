"""Where a run is driven from."""

import os
import platform
from pathlib import Path

from exporter import __version__
from exporter.model.load_result import Fingerprint


def fingerprint(load_before: float) -> Fingerprint:
    """Return this host's fingerprint; ``load_before`` is the load average at the start of the run."""
    return Fingerprint(
        host_cpu=_cpu(),
        cores=os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        exporter=__version__,
        load_before=load_before,
        load_after=os.getloadavg()[0],
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
