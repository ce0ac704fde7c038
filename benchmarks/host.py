"""Where and when a measurement was taken, for the head of its report."""

import os
import platform
import ssl
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("openai", "httpx2", "httptools", "prometheus-client", "apscheduler")


def cpu_model() -> str:
    """Return the processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def conditions(load_before: tuple[float, float, float]) -> str:
    """Return a Markdown list of what the figures depend on."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    before, after = (f"{minute:.2f}" for minute in (load_before[0], os.getloadavg()[0]))
    lines = (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"{os.cpu_count()} x {cpu_model()}; load average over a minute {before} before, {after} after",
        f"Linux {platform.release()}, Python {platform.python_version()}, {ssl.OPENSSL_VERSION}",
        packages,
    )
    return "\n".join(f"- {line}" for line in lines)
