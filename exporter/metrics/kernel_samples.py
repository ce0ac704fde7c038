"""What a bench report does to the metrics."""

from collections.abc import Iterable, Iterator

from exporter.metrics.catalogue import kernel as names
from exporter.metrics.family import Family, InfoTable, Sample
from exporter.model.kernel import FAILED_VERDICTS, Backend, BenchReport, KernelResult, KernelRun, Verdict


def initial(suite: str, runs: Iterable[KernelRun]) -> Iterator[Sample]:
    """Yield every counter child that these runs can change, at 0.

    A counter born at 1 shows no increase.  Accelerators that are found at run time are known only with the
    first report, so there the first run's own increase is not seen.
    """
    yield Sample(names.BENCH_SECONDS, (suite,), None)
    for run in runs:
        yield Sample(names.RUNS, (suite, *run.labels), None)
        for verdict in FAILED_VERDICTS:
            yield Sample(names.RUN_FAILURES, (suite, *run.labels, verdict.value), None)


def of_report(report: BenchReport) -> Iterator[Sample]:
    """Yield every change that one run of a suite makes.

    Where the worker died before it could say whether torch is there, ``supported`` stays as it was.
    """
    yield from initial(report.suite, (result.run for result in report.results))
    yield Sample(names.BENCH_SECONDS, (report.suite,), report.seconds)
    yield Sample(names.LAST_RUN, (report.suite,), report.finished_unix_s)
    if report.supported is not None:
        yield Sample(names.SUPPORTED, (), float(report.supported))
    for result in report.results:
        yield from _of_result(report.suite, result)


def info(report: BenchReport) -> InfoTable | None:
    """Return the rows of the info family; None where the report says nothing about them."""
    if report.supported is None:
        return None
    if report.environment is None:
        return InfoTable(names.INFO, names.INFO.labels, ())
    found = report.environment
    rows = tuple((d.device, d.name, found.torch_version, str(found.threads)) for d in found.devices)
    return InfoTable(names.INFO, names.INFO.labels, rows)


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


def _gauges(result: KernelResult) -> dict[Family, float | None]:
    measurement, summary = result.measurement, result.summary
    return {
        names.MEDIAN: summary.median_s if summary else None,
        names.TOKENS_PER_SECOND: result.tokens_per_second,
        names.FLOPS_PER_SECOND: result.flops_per_second,
        names.CONTENTION: result.wall_to_cpu_ratio,
        names.CORRECT: None if measurement is None else float(measurement.correct),
        names.RELATIVE_ERROR: measurement.relative_error if measurement else None,
    }
