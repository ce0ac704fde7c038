"""Whether the service does its work: pure judgement over when each schedule last showed life."""

from collections.abc import Sequence
from dataclasses import dataclass

INTERVALS_OF_SILENCE = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Ready or not, and one line for people that says why."""

    ready: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """When one schedule last showed life, on a monotonic clock in seconds.

    ``alive_s`` is the end of its last run, or the last slot it gave way to a load test; the moment it was
    added if there was neither.  ``deadline_s`` is how long a run may take.
    """

    name: str
    every_s: float
    deadline_s: float
    alive_s: float

    @property
    def silent_from_s(self) -> float:
        """The moment from which this schedule counts as silent.

        Three intervals and one run that takes all the time it may: a target that times out is not our
        silence.
        """
        return self.alive_s + INTERVALS_OF_SILENCE * self.every_s + self.deadline_s


def judge(pulses: Sequence[Pulse], *, any_finished: bool, now_s: float) -> Verdict:
    """Judge the probes of a service; ``any_finished`` tells whether one has finished since it started.

    Not ready only when *every* probe is silent: one dead target, or one slow probe, is news for the metrics
    and no reason to take the service out.
    """
    if not pulses:
        return Verdict(True, "no probes are configured")
    if not any_finished:
        return Verdict(False, "no probe has finished yet")
    if all(now_s > pulse.silent_from_s for pulse in pulses):
        last = max(pulses, key=lambda pulse: pulse.alive_s)
        silence_s = now_s - last.alive_s
        return Verdict(
            False,
            f"no probe has finished for {INTERVALS_OF_SILENCE} intervals: "
            f"the last one was {last.name}, {silence_s:.0f} s ago",
        )
    return Verdict(True, "probes are finishing")
