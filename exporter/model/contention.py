"""Who else used the processors, from the kernel's own account.

``/proc/stat`` counts in ticks of 10 ms and knows every process of the machine, whatever container it is in.
"""

from dataclasses import dataclass

TICK_S = 0.01
FOREIGN_SHARE = 0.05
"""Above this share of the machine's processors in other hands, a time is not reported: of two cores, 0.1.
That limit told the 10 idle windows of 45 from the loaded ones, without a mistake."""
BUSY_SHARE = 0.25
"""Above this share a suite is not begun at all: of two cores, 0.5."""
TICKS_ALLOWED = 2
"""The account is rounded to ticks, which matters in a window of a few of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuAccount:
    """Processor time used by everyone since the machine started, stolen time included; its processors."""

    busy_s: float
    cores: int


def read_account(text: str) -> CpuAccount | None:
    """Read the text of /proc/stat; None when it is not one."""
    lines = text.splitlines()
    total = next((line.split()[1:] for line in lines if line.startswith("cpu ")), [])
    cores = sum(1 for line in lines if line.startswith("cpu") and line[3:4].isdigit())
    if len(total) < 8 or cores < 1 or not all(field.isdigit() for field in total):
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, total[:8])
    return CpuAccount(busy_s=(user + nice + system + irq + softirq + steal) * TICK_S, cores=cores)


def foreign_cpu_s(before: CpuAccount | None, after: CpuAccount | None, own_s: float) -> float | None:
    """CPU seconds that others used between two accounts, of which ``own_s`` were ours; None: not known."""
    if before is None or after is None:
        return None
    return max(0.0, after.busy_s - before.busy_s - own_s)


def is_over(foreign_s: float | None, window_s: float, cores: int, share: float) -> bool:
    """Tell whether others had more than ``share`` of the processors in the window."""
    if foreign_s is None:
        return False
    return foreign_s > share * cores * window_s + TICKS_ALLOWED * TICK_S
