"""What came of a kernel bench once it was judged."""

import statistics
from dataclasses import dataclass
from enum import StrEnum

from exporter.model.call_energy import CallEnergy
from exporter.model.kernel import KernelRun, Verdict
from exporter.model.observation import Conditions, Environment, Measurement, TimeSource
from exporter.model.regression import Standing
from exporter.model.roofline import Ceilings, Peak, Placement
from exporter.model.work import flops, moved_bytes, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Quartiles of the repeats in seconds, and their number."""

    q1_s: float
    median_s: float
    q3_s: float
    n: int

    @property
    def spread_ratio(self) -> float:
        """Distance of the quartiles / median."""
        return (self.q3_s - self.q1_s) / self.median_s

    @classmethod
    def of(cls, times_s: tuple[float, ...]) -> "Summary":
        """Summarise at least two times; the quartiles are interpolated between the samples."""
        q1, median, q3 = statistics.quantiles(times_s, n=4, method="inclusive")
        return cls(q1_s=q1, median_s=median, q3_s=q3, n=len(times_s))


def clocked(measurement: Measurement) -> tuple[float, ...]:
    """Return the seconds of every repeat on the clock that counts."""
    return {
        TimeSource.PROCESS_CPU: measurement.cpu_s,
        TimeSource.WALL: measurement.wall_s,
        TimeSource.DEVICE_EVENTS: measurement.device_s,
    }[measurement.clock]


def undisturbed(measurement: Measurement) -> tuple[float, ...]:
    """Return the repeats that were not interrupted by the kernel for somebody else."""
    times = clocked(measurement)
    if not measurement.preemptions:
        return times
    return tuple(t for t, taken in zip(times, measurement.preemptions, strict=True) if not taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelResult:
    """The end of one run.  ``measurement`` is None when the worker gave none."""

    run: KernelRun
    verdict: Verdict
    detail: str = ""
    """One line for people."""
    measurement: Measurement | None = None
    conditions: Conditions | None = None
    placement: Placement | None = None
    """None unless the verdict is ok."""
    energy: CallEnergy | None = None
    """None unless it was asked for and the window was long enough."""
    standing: Standing | None = None
    """Against its own past; None unless the verdict is ok."""

    @property
    def times_s(self) -> tuple[float, ...]:
        """Seconds of each undisturbed repeat on the clock that counts; empty unless the verdict is ok."""
        if self.measurement is None or self.verdict is not Verdict.OK:
            return ()
        return undisturbed(self.measurement)

    @property
    def summary(self) -> Summary | None:
        """Quartiles of ``times_s``; None unless the verdict is ok."""
        return Summary.of(self.times_s) if self.times_s else None

    @property
    def kept_ratio(self) -> float | None:
        """Undisturbed repeats / all of them, 0 to 1; None when nothing was timed."""
        if self.measurement is None or not clocked(self.measurement):
            return None
        return len(undisturbed(self.measurement)) / len(clocked(self.measurement))

    @property
    def tokens_per_second(self) -> float | None:
        """New tokens of one call / median; None unless the verdict is ok, and for a ceiling."""
        return self._rate(tokens(self.run.case.work))

    @property
    def flops_per_second(self) -> float | None:
        """FLOP of one call (closed form) / median; None unless the verdict is ok, and for a copy."""
        return self._rate(flops(self.run.case.work) or None)

    @property
    def bytes_per_second(self) -> float | None:
        """Compulsory bytes of one call / median; None unless the verdict is ok."""
        return self._rate(moved_bytes(self.run.case.work, self.run.case.dtype.bytes))

    @property
    def wall_to_cpu_ratio(self) -> float | None:
        """Median wall time / median CPU time of a CPU run: 1 alone on a core, more when others wanted it."""
        if (
            self.measurement is None
            or not self.times_s
            or self.measurement.clock is not TimeSource.PROCESS_CPU
        ):
            return None
        return statistics.median(self.measurement.wall_s) / statistics.median(self.measurement.cpu_s)

    @property
    def tokens_per_joule(self) -> float | None:
        """New tokens of one call / its energy; None where either is not known."""
        amount = tokens(self.run.case.work)
        return None if self.energy is None or amount is None else amount / self.energy.joules_per_call

    def _rate(self, amount: int | None) -> float | None:
        return None if self.summary is None or amount is None else amount / self.summary.median_s


class SkipReason(StrEnum):
    """Why a run of a suite did not take place, wholly or on one device."""

    QUIET_HOURS = "quiet_hours"
    CPU_BUSY = "cpu_busy"
    ACCELERATOR_BUSY = "accelerator_busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """One run of a suite, however it ended."""

    suite: str
    supported: bool | None
    """False: torch is missing or cannot be imported; None: the worker died before it could say."""
    detail: str = ""
    """Why it is not supported, one line for people."""
    environment: Environment | None = None
    absent: tuple[str, ...] = ()
    """Devices that were asked for and are not there."""
    results: tuple[KernelResult, ...] = ()
    ceilings: tuple[Ceilings, ...] = ()
    """What each device reached in this run, by device."""
    peaks: tuple[tuple[str, Peak], ...] = ()
    """What devices are sold as, by device, where that is known."""
    fingerprints: tuple[tuple[str, str], ...] = ()
    """Of what the times depend on, by device."""
    skipped: SkipReason | None = None
    """Why the suite was not run at all; None: it was."""
    skipped_devices: tuple[str, ...] = ()
    """Devices left out because others were using them."""
    seconds: float
    """Wall time of the whole run, the start of the worker included."""
    joules: float | None = None
    """Energy that its accelerators used in windows that were measured; None: none was."""
    finished_unix_s: float
