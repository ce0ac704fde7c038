"""Alerts on the kernel benches."""

from exporter.metrics.catalogue import kernel
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
        ),
    )
