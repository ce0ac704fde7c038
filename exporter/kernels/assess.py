"""From times to what they mean: ceilings of the run, place under them, and the run against its past."""

from dataclasses import replace

from exporter.kernels.baseline import Baselines
from exporter.model.kernel import Dtype, Verdict
from exporter.model.kernel_report import KernelResult
from exporter.model.observation import DeviceFound
from exporter.model.regression import Interval, margin
from exporter.model.roofline import Ceilings, Peak, place
from exporter.model.work import CopyShape, MatmulShape


def ceilings_of(device: str, results: list[KernelResult], again: list[KernelResult]) -> Ceilings:
    """Return what a device reached, the better of two measurements where there are two."""
    flops: dict[Dtype, float] = {}
    moved: float | None = None
    for result in (*results, *again):
        if isinstance(result.run.case.work, MatmulShape) and result.flops_per_second is not None:
            dtype = result.run.case.dtype
            flops[dtype] = max(flops.get(dtype, 0.0), result.flops_per_second)
        if isinstance(result.run.case.work, CopyShape) and result.bytes_per_second is not None:
            moved = max(moved or 0.0, result.bytes_per_second)
    return Ceilings(
        device=device, flops_per_second=flops, bytes_per_second=moved, drift_ratio=_drift(results, again)
    )


def _drift(first: list[KernelResult], last: list[KernelResult]) -> float | None:
    """Return the largest relative change of a median between the first and the last measurement."""
    before = {r.run.labels: r.summary.median_s for r in first if r.summary is not None}
    changes = [
        abs(r.summary.median_s / before[r.run.labels] - 1)
        for r in last
        if r.summary is not None and r.run.labels in before
    ]
    return max(changes, default=None)


def placed(result: KernelResult, ceilings: Ceilings, peak: Peak | None) -> KernelResult:
    """Return the result with its place, if it has a time."""
    if result.summary is None:
        return result
    case = result.run.case
    return replace(result, placement=place(case.work, case.dtype, result.summary.median_s, ceilings, peak))


def compared(
    result: KernelResult, device: DeviceFound, fingerprint: str, baselines: Baselines
) -> KernelResult:
    """Return the result with its standing against the runs before it, which it joins, if it is valid."""
    summary = result.summary
    if result.verdict is not Verdict.OK or summary is None:
        return result
    interval = Interval(q1_s=summary.q1_s, median_s=summary.median_s, q3_s=summary.q3_s)
    standing = baselines.judge(fingerprint, "/".join(result.run.labels), interval, margin(device))
    return replace(result, standing=standing)
