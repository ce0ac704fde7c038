"""Energy of one call from a counter that moves in steps.

A counter that is updated every 100 ms, read at both ends of a 0.5 s window, is off by up to 18 %; between
two of its own steps it is exact.  So the kernel runs without a pause, and the window goes from the first
step to the last one that fell within.
"""

from dataclasses import dataclass
from itertools import pairwise

from exporter.model.observation import Mark

MIN_WINDOW_S = 2.0
MIN_TICKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyTick:
    """The counter changed to ``joules`` at this moment of the machine's monotonic clock, in seconds."""

    monotonic_s: float
    joules: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnergy:
    """Energy of one call, and the window it was taken over: its length, steps and total."""

    joules_per_call: float
    window_s: float
    ticks: int
    joules: float


def call_energy(ticks: tuple[EnergyTick, ...], marks: tuple[Mark, ...]) -> CallEnergy | None:
    """Return the energy of a call; None when the window was too short or the counter stood or fell."""
    if len(marks) < 2:
        return None
    inside = [t for t in ticks if marks[0].monotonic_s <= t.monotonic_s <= marks[-1].monotonic_s]
    if len(inside) < MIN_TICKS:
        return None
    first, last = inside[0], inside[-1]
    calls = _calls_at(marks, last.monotonic_s) - _calls_at(marks, first.monotonic_s)
    window_s, joules = last.monotonic_s - first.monotonic_s, last.joules - first.joules
    if window_s < MIN_WINDOW_S or calls <= 0 or joules <= 0:
        return None
    return CallEnergy(joules_per_call=joules / calls, window_s=window_s, ticks=len(inside), joules=joules)


def _calls_at(marks: tuple[Mark, ...], moment_s: float) -> float:
    """Interpolate between the marks around a moment that lies within them."""
    for before, after in pairwise(marks):
        if before.monotonic_s <= moment_s <= after.monotonic_s and after.monotonic_s > before.monotonic_s:
            share = (moment_s - before.monotonic_s) / (after.monotonic_s - before.monotonic_s)
            return before.calls + share * (after.calls - before.calls)
    return float(marks[-1].calls)
