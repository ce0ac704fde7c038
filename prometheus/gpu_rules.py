"""Alerts on the GPUs of the exporter's own host."""

from exporter.metrics.catalogue import gpu
from exporter.metrics.family import Family
from prometheus.annotations import PERCENT, lookup
from prometheus.document import Alert, Group
from prometheus.promql import PROCESS, Pace

HARMFUL = ("hw_slowdown", "hw_thermal", "sw_thermal", "hw_power_brake")
"""A GPU at its power limit works as configured, and an idle one or one with fixed clocks as told."""
SHARE = 0.1
BROKEN_XIDS = ("48", "62", "63", "64", "74", "79", "92", "94", "95", "119", "120", "140")
"""Events of memory, link, bus and firmware; those of a faulty application (13, 31, 43 ...) are left out."""
_REASON = f'reason=~"{"|".join(HARMFUL)}"'
_BROKEN = f'xid=~"{"|".join(BROKEN_XIDS)}"'
_BY_REASON = f"{PROCESS}, uuid, reason"
_NAME = lookup(f'{gpu.INFO.name}{{uuid="%s"}}', ("uuid",), " ({{ . | label `gpu_name` }})")
_THE_GPU = f"GPU {{{{ $labels.uuid }}}}{_NAME} at {{{{ $labels.instance }}}}"


def gpus(pace: Pace) -> Group:
    """Return the alerts on lost, throttled and faulty GPUs."""
    return Group(
        "inference_gpus",
        pace.interval("1m"),
        (
            Alert(
                name="InferenceGPULost",
                expr=f"max_over_time({gpu.UP.name}[{pace.of('3m')}]) == 0",
                severity="ticket",
                keep=pace.of("10m"),
                summary="GPU {{ $labels.uuid }} cannot be read any more",
                description=f"{_THE_GPU} was there and has given nothing for 3 minutes: off the bus, hung, "
                "or the driver is gone.",
            ),
            Alert(
                name="InferenceGPUThrottled",
                expr=f"max by ({_BY_REASON}) (\n"
                f"  {_share(pace, 'rate', gpu.THROTTLED)}\n"
                f"  or {_share(pace, 'avg_over_time', gpu.THROTTLE)}\n) > {SHARE}",
                severity="ticket",
                wait=pace.of("5m"),
                keep=pace.of("15m"),
                summary="GPU {{ $labels.uuid }} is slowed down ({{ $labels.reason }})",
                description=f"The clocks of {_THE_GPU} were held down for {PERCENT} of the last 10 minutes, "
                "reason {{ $labels.reason }}: whatever runs on it is slower than it should be.",
            ),
            Alert(
                name="InferenceGPUXid",
                expr=f"time() - {gpu.LAST_XID.name}{{{_BROKEN}}} < {pace.seconds('15m')}",
                severity="ticket",
                keep=pace.of("10m"),
                summary="GPU {{ $labels.uuid }} reports XID {{ $labels.xid }}",
                description=f"{_THE_GPU} had an error of memory, link or firmware "
                "{{ $value | printf `%.0f` }} s ago.",
            ),
        ),
    )


def _share(pace: Pace, function: str, family: Family) -> str:
    return f"max by ({_BY_REASON}) ({function}({family.name}{{{_REASON}}}[{pace.of('10m')}]))"
