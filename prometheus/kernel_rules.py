"""Alerts on the kernel benches."""

from exporter.metrics.catalogue import kernel, kernel_meaning
from prometheus.document import Alert, Group
from prometheus.promql import Pace


def kernels(pace: Pace) -> Group:
    """Return the alerts on what the local devices compute."""
    return Group(
        "inference_kernels",
        pace.interval("1m"),
        (
            Alert(
                name="InferenceKernelIncorrect",
                expr=f"{kernel.CORRECT.name} == 0",
                severity="ticket",
                keep=pace.of("15m"),
                summary="{{ $labels.device }} computes {{ $labels.case }} wrongly",
                description="The result of variant {{ $labels.variant }} in {{ $labels.dtype }} differed "
                "from float64's by more than the tolerance in the last run, and was not timed.",
            ),
            Alert(
                name="InferenceKernelRegression",
                # A disturbed run takes the gauge away for a while, which says nothing of speed.
                expr=f"last_over_time({kernel_meaning.REGRESSED.name}[{pace.of('1h')}]) == 1",
                severity="ticket",
                keep=pace.of("15m"),
                summary="{{ $labels.device }} computes {{ $labels.case }} more slowly than it used to",
                description="Variant {{ $labels.variant }} in {{ $labels.dtype }}: the first quartile of "
                "three valid runs in a row lay above the usual third quartile by more than this device's "
                "margin, with the same driver, software and power limit.",
            ),
        ),
    )
