"""What the operating system says of processors, limits and processes (Linux; elsewhere: not known)."""

import os
import platform
import time
from pathlib import Path

from exporter.model.contention import CpuAccount, read_account

_CPUS = Path("/sys/devices/system/cpu")


def cpu_account() -> CpuAccount | None:
    """Read how much processor time everyone has used; None where there is no such account."""
    return read_account(_text(Path("/proc/stat")))


def throttle_count(cpus: Path = _CPUS) -> int:
    """Count how often processors lowered their clock for heat since the start; 0 where none tells."""
    texts = (_text(path) for path in cpus.glob("cpu[0-9]*/thermal_throttle/*_throttle_count"))
    return sum(int(text) for text in texts if text.strip().isdigit())


def governor(cpus: Path = _CPUS) -> str:
    """Return the frequency governor of the first processor; empty where there is none, as in a virtual
    machine."""
    return _text(cpus / "cpu0" / "cpufreq" / "scaling_governor").strip()


def is_virtual(cpuinfo: str) -> bool:
    """Tell from the text of /proc/cpuinfo whether a hypervisor is underneath."""
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "")
    return "hypervisor" in flags.split()


def cpu_name(cpuinfo: str) -> str:
    """Return the processor's product name from the text of /proc/cpuinfo, else its architecture."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return platform.machine() or "unknown"


def cpuinfo() -> str:
    """Return the text of /proc/cpuinfo, empty where there is none."""
    return _text(Path("/proc/cpuinfo"))


def available_bytes() -> int | None:
    """Return the memory that can be had without swapping; None: not known."""
    for line in _text(Path("/proc/meminfo")).splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def resident_bytes(pid: int, proc: Path = Path("/proc")) -> int | None:
    """Return the resident memory of a process; None when it is gone or not known."""
    fields = _text(proc / str(pid) / "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else None


def usable_cores(cgroup: Path = Path("/sys/fs/cgroup"), affinity: int | None = None) -> int:
    """Return how many threads can run at once: the least of processors allowed and the cgroup's quota.

    A library that counts the host's processors under a quota of two starts dozens of threads, which was
    seen to cost a factor of 45.  At least 1; a fraction of a processor counts as one.
    """
    allowed = affinity if affinity is not None else _affinity()
    quota = _quota(cgroup)
    return max(1, allowed if quota is None else min(allowed, int(quota)))


def own_cpu_s() -> float:
    """Return the CPU time of this process in seconds."""
    return time.process_time()


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota(cgroup: Path) -> float | None:
    """Return the processors that the cgroup may use, of version 2 or 1; None: no limit."""
    fields = _text(cgroup / "cpu.max").split()
    if not fields:
        fields = [
            _text(cgroup / "cpu" / "cpu.cfs_quota_us").strip(),
            _text(cgroup / "cpu" / "cpu.cfs_period_us").strip(),
        ]
    if len(fields) == 2 and all(field.isdigit() for field in fields) and int(fields[1]) > 0:
        return int(fields[0]) / int(fields[1])
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
