"""What there is to measure on."""

import platform
from pathlib import Path

import torch

from exporter.model.kernel import DeviceFound, Environment


def environment() -> Environment:
    """Describe the framework and every device it can use; a CPU is always there."""
    found = [DeviceFound(device="cpu", name=cpu_name(_cpuinfo()))]
    if torch.cuda.is_available():
        found += [
            DeviceFound(device=f"cuda:{index}", name=torch.cuda.get_device_name(index))
            for index in range(torch.cuda.device_count())
        ]
    return Environment(
        torch_version=str(torch.__version__), threads=torch.get_num_threads(), devices=tuple(found)
    )


def cpu_name(cpuinfo: str) -> str:
    """Return the processor's product name from the text of /proc/cpuinfo, else its architecture."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return platform.machine() or "unknown"


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
