"""Whether the times of one run may be reported, and if not, why not.  A wrong number is worse than none."""

from exporter.model.contention import FOREIGN_SHARE, is_over
from exporter.model.kernel import KernelRun, Verdict
from exporter.model.kernel_report import Summary, clocked, undisturbed
from exporter.model.observation import Conditions, Measurement, Seen, TimeSource
from exporter.model.roofline import Peak, place

MIN_SAMPLES = 5
MIN_KEPT_RATIO = 0.5
RESOLUTION_S = {
    TimeSource.PROCESS_CPU: 1e-6,
    TimeSource.WALL: 1e-6,
    TimeSource.DEVICE_EVENTS: 5e-7,
}
"""Of the clocks; CUDA documents half a microsecond for its events."""
MIN_RESOLUTIONS = 10
"""A time of fewer of them is mostly rounding."""


def judge(
    run: KernelRun, seen: Seen, conditions: Conditions | None, peak: Peak | None
) -> tuple[Verdict, str]:
    """Return the verdict on what the worker saw of a run, and one line for people.

    The first reason that holds is given, in the order: no result, wrong result, senseless answer, others on
    the device, slowed down, too few samples, too short, too fast to be true.
    """
    if seen.verdict is not Verdict.OK and seen.measurement is None:
        return seen.verdict, seen.detail
    measurement = seen.measurement
    if (
        measurement is None
        or conditions is None
        or (measurement.correct and not _has_times(run, measurement))
    ):
        return (
            Verdict.BAD_OUTPUT,
            f"1 to {run.case.repeats} positive times were asked for, the answer has others",
        )
    if not measurement.correct:
        return Verdict.INCORRECT, _how_wrong(run, measurement)
    return _disturbed(run, measurement, conditions) or _senseless(run, measurement, peak) or (Verdict.OK, "")


def _has_times(run: KernelRun, measurement: Measurement) -> bool:
    kinds = [measurement.wall_s, measurement.cpu_s, clocked(measurement)]
    n = len(measurement.wall_s)
    if measurement.preemptions and len(measurement.preemptions) != n:
        return False
    own_clock = TimeSource.PROCESS_CPU if run.device == "cpu" else TimeSource.DEVICE_EVENTS
    return (
        1 <= n <= run.case.repeats
        and measurement.clock in {own_clock, TimeSource.WALL}
        and all(len(times) == n and min(times) > 0 for times in kinds)
    )


def _how_wrong(run: KernelRun, measurement: Measurement) -> str:
    error = measurement.relative_error
    off = "not finite where it has to be, or finite where not" if error is None else f"off by {error:.1e}"
    return f"the result is {off}; at most {run.case.dtype.tolerance:.0e} is allowed; not timed"


def _disturbed(
    run: KernelRun, measurement: Measurement, conditions: Conditions
) -> tuple[Verdict, str] | None:
    window, others = conditions.window_s, conditions.other_processes
    foreign = conditions.foreign_cpu_s
    if run.device != "cpu" and others:
        return Verdict.CONTENDED, f"{others} other process(es) compute on {run.device}"
    if run.device == "cpu" and is_over(foreign, window, conditions.cores, FOREIGN_SHARE):
        return (
            Verdict.CONTENDED,
            f"others used {conditions.foreign_cores:.2f} of {conditions.cores} cores while it was timed",
        )
    if conditions.throttled:
        return Verdict.THROTTLED, f"the clock was lowered meanwhile: {', '.join(conditions.throttled)}"
    kept, n = len(undisturbed(measurement)), len(clocked(measurement))
    if kept < max(MIN_SAMPLES, MIN_KEPT_RATIO * run.case.repeats):
        return (
            Verdict.TOO_FEW_SAMPLES,
            f"{kept} of {n} repeats undisturbed, {run.case.repeats} were asked for",
        )
    return None


def _senseless(run: KernelRun, measurement: Measurement, peak: Peak | None) -> tuple[Verdict, str] | None:
    median = Summary.of(undisturbed(measurement)).median_s
    least = MIN_RESOLUTIONS * RESOLUTION_S[measurement.clock]
    if median < least:
        return Verdict.WINDOW_SHORT, f"one call takes {median:.1e} s; the clock needs {least:.0e} s"
    placed = place(run.case.work, run.case.dtype, median, None, peak)
    for what, share in (("FLOP/s", placed.mfu), ("bytes/s", placed.mbu)):
        if share is not None and share > 1:
            return (
                Verdict.OVER_PEAK,
                f"{share:.0%} of the device's peak {what}: the clock or the peak is wrong",
            )
    return None
