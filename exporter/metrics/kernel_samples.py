"""What a bench report does to the metrics."""

from collections.abc import Iterable, Iterator

from exporter.metrics.catalogue import kernel as names
from exporter.metrics.catalogue import kernel_meaning as meaning
from exporter.metrics.family import Family, InfoTable, Sample
from exporter.model.kernel import FAILED_VERDICTS, Backend, Dtype, KernelRun, Verdict
from exporter.model.kernel_report import BenchReport, KernelResult, SkipReason
from exporter.model.roofline import Bound, Ceilings, Peak


def initial(suite: str, runs: Iterable[KernelRun]) -> Iterator[Sample]:
    """Yield every counter child that these runs can change, at 0.

    A counter born at 1 shows no increase.  Accelerators that are found at run time are known only with the
    first report, so there the first run's own increase is not seen.
    """
    yield Sample(names.BENCH_SECONDS, (suite,), None)
    yield Sample(names.BENCH_JOULES, (suite,), None)
    for reason in SkipReason:
        yield Sample(names.SKIPPED, (suite, reason.value), None)
    for run in runs:
        yield Sample(names.RUNS, (suite, *run.labels), None)
        for verdict in FAILED_VERDICTS:
            yield Sample(names.RUN_FAILURES, (suite, *run.labels, verdict.value), None)


def of_report(report: BenchReport) -> Iterator[Sample]:
    """Yield every change that one run of a suite makes.

    Where the worker died before it could say whether torch is there, ``supported`` stays as it was.  A run
    that was left out changes its own counter only: what was measured before it still is the last.
    """
    yield from initial(report.suite, (result.run for result in report.results))
    yield Sample(names.BENCH_SECONDS, (report.suite,), report.seconds)
    if report.skipped is not None:
        yield Sample(names.SKIPPED, (report.suite, report.skipped.value), 1)
        return
    if report.skipped_devices:
        yield Sample(names.SKIPPED, (report.suite, SkipReason.ACCELERATOR_BUSY.value), 1)
    if report.joules is not None:
        yield Sample(names.BENCH_JOULES, (report.suite,), report.joules)
    yield Sample(names.LAST_RUN, (report.suite,), report.finished_unix_s)
    if report.supported is not None:
        yield Sample(names.SUPPORTED, (), float(report.supported))
    for ceilings in report.ceilings:
        yield from _of_ceilings(ceilings)
    for device, peak in report.peaks:
        yield from _of_peak(device, peak)
    for result in report.results:
        yield from _of_result(report.suite, result)


def info(report: BenchReport) -> tuple[InfoTable, ...]:
    """Return the info families' rows; none where the report says nothing about them."""
    if report.supported is None:
        return ()
    found = report.environment
    rows: tuple[tuple[str, ...], ...] = ()
    if found is not None:
        rows = tuple((d.device, d.name, found.torch_version, str(found.threads)) for d in found.devices)
    return (
        InfoTable(names.INFO, names.INFO.labels, rows),
        InfoTable(names.FINGERPRINT, names.FINGERPRINT.labels, report.fingerprints),
    )


def _of_ceilings(ceilings: Ceilings) -> Iterator[Sample]:
    for dtype in Dtype:
        flops = ceilings.flops_per_second.get(dtype)
        yield Sample(meaning.CEILING_FLOPS, (ceilings.device, dtype.value), flops)
    yield Sample(meaning.CEILING_BYTES, (ceilings.device,), ceilings.bytes_per_second)
    if ceilings.drift_ratio is not None:
        yield Sample(meaning.CEILING_DRIFT, (ceilings.device,), ceilings.drift_ratio)


def _of_peak(device: str, peak: Peak) -> Iterator[Sample]:
    for dtype, flops in peak.flops_per_second.items():
        yield Sample(meaning.PEAK_FLOPS, (device, dtype.value, peak.source), flops)
    if peak.bytes_per_second is not None:
        yield Sample(meaning.PEAK_BYTES, (device, peak.source), peak.bytes_per_second)


def _of_result(suite: str, result: KernelResult) -> Iterator[Sample]:
    labels, measurement = result.run.labels, result.measurement
    yield Sample(names.RUNS, (suite, *labels), 1)
    if result.verdict is not Verdict.OK:
        yield Sample(names.RUN_FAILURES, (suite, *labels, result.verdict.value), 1)
    if measurement is not None:
        for time_s in result.times_s:
            yield Sample(names.DURATION, (*labels, measurement.backend.value), time_s)
    for family, value in _gauges(result).items():
        yield Sample(family, labels, value)
    for backend in Backend:
        ran = None if measurement is None else float(backend is measurement.backend)
        yield Sample(names.BACKEND, (*labels, backend.value), ran)
    bound = result.placement.bound if result.placement else None
    for limit in Bound:
        yield Sample(meaning.BOUND, (*labels, limit.value), None if bound is None else float(limit is bound))
    seen, case = result.conditions, result.run.case
    yield Sample(
        names.FOREIGN, (case.name, result.run.device, case.dtype.value), seen.foreign_cores if seen else None
    )


def _gauges(result: KernelResult) -> dict[Family, float | None]:
    measurement, summary = result.measurement, result.summary
    placed, energy, standing = result.placement, result.energy, result.standing
    return {
        names.VALID: float(result.verdict is Verdict.OK),
        names.MEDIAN: summary.median_s if summary else None,
        names.SPREAD: summary.spread_ratio if summary else None,
        names.KEPT: result.kept_ratio,
        names.TOKENS_PER_SECOND: result.tokens_per_second,
        names.FLOPS_PER_SECOND: result.flops_per_second,
        names.BYTES_PER_SECOND: result.bytes_per_second,
        names.CONTENTION: result.wall_to_cpu_ratio,
        meaning.INTENSITY: placed.intensity if placed else None,
        meaning.ROOFLINE: placed.roofline_ratio if placed else None,
        meaning.MFU: placed.mfu if placed else None,
        meaning.MBU: placed.mbu if placed else None,
        meaning.TOKENS_PER_JOULE: result.tokens_per_joule,
        meaning.ENERGY_WINDOW: energy.window_s if energy else None,
        names.CORRECT: None if measurement is None else float(measurement.correct),
        names.RELATIVE_ERROR: measurement.relative_error if measurement else None,
        meaning.BASELINE: standing.baseline_s if standing else None,
        meaning.REGRESSED: float(standing.regressed) if standing else None,
    }
