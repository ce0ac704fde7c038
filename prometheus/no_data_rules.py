"""Alerts on the absence of measurements, which must not pass for health.

They compare what is configured with what moves.  `absent()` would fire for every service that is idle.
They keep apart what several exporters say: one that hangs must not hide behind another.
"""

from collections.abc import Iterator

from exporter.metrics.catalogue import probe, schedule, sla
from exporter.metrics.family import Family
from prometheus.annotations import PERCENT, PROBE_OF
from prometheus.document import Alert, Group
from prometheus.promql import PROBE, PROCESS, SLI, Pace, at_least

_PROBE, _SLI = f"{PROCESS}, {PROBE}", f"{PROCESS}, {SLI}"
PATIENCE = (("6m", "30m"), ("72m", "6h"), ("1d", "5d"))
"""Probes up to this interval must show something within this window: five of their intervals."""
OURS = 'cause=~"overrun|late|client_overload"'
"""Causes of missed slots that somebody should look at; a load test, a reload and a budget are meant."""


def silence(pace: Pace) -> Group:
    """Return the alerts on objectives without evidence and on probes without runs."""
    return Group(
        "inference_no_data",
        pace.interval("1m"),
        (
            Alert(
                name="InferenceSLANoData",
                expr="\nor ".join(_still(pace, sla.OBJECTIVE, sla.REQUESTS, _SLI)),
                severity="ticket",
                keep=pace.of("10m"),
                summary="Nobody knows whether {{ $labels.target }} keeps its {{ $labels.sli }} objective",
                description=f"Five intervals or more of {PROBE_OF} passed without a request that could be "
                "held against the objective. This is not health: the SLA alerts are blind meanwhile.",
            ),
            Alert(
                name="InferenceProbesMissed",
                expr=_missed(pace),
                severity="ticket",
                wait=pace.of("10m"),
                keep=pace.of("10m"),
                summary="Slots of {{ $labels.probe }} on {{ $labels.target }} go by without a measurement",
                description=f"{PERCENT} of the slots of the last 30 minutes of {PROBE_OF} had no run because "
                "the one before had not ended, or because the exporter came too late or was overloaded.",
            ),
        ),
    )


def _still(pace: Pace, configured: Family, moving: Family, labels: str) -> Iterator[str]:
    """Yield, for each class of intervals, what was configured a window ago and has not moved since."""
    above = "0s"
    interval = f"max by ({_PROBE}) ({probe.INTERVAL.name})"
    for upto, window in PATIENCE:
        yield (
            f"(\n  max by ({labels}) ({configured.name})\n"
            f"  and max by ({labels}) ({configured.name} offset {pace.of(window)})\n"
            f"  and on ({_PROBE}) ({interval} > {pace.seconds(above)} <= {pace.seconds(upto)})\n"
            f"  unless sum by ({labels}) (increase({moving.name}[{pace.of(window)}])) > 0\n)"
        )
        above = upto


def _missed(pace: Pace) -> str:
    window = pace.of("30m")
    missed = f"sum by ({_PROBE}) (increase({schedule.MISSED.name}{{{OURS}}}[{window}]))"
    every = f"sum by ({_PROBE}) (increase({schedule.MISSED.name}[{window}]))"
    ended = f"sum by ({_PROBE}) (increase({probe.PROBES.name}[{window}]))"
    return f"{missed} / ({every} + {ended}) > 0.1\nand {missed} > {at_least(3)}"
