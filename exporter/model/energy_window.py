"""From ticks and polls to the energy of a window: pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from exporter.model.energy import (
    MAX_DISAGREEMENT,
    MAX_EDGE_SHARE,
    MIN_TICKS,
    EnergyReading,
    Method,
    Validity,
    advance,
    integrate,
)
from exporter.model.power_protocol import EdgeFound

MIN_POLLS = 10
MAX_POLL_GAP_S = 2.0

Points = Sequence[tuple[float, float]]


def of_meter(
    begin: EdgeFound, end: EdgeFound, *, powers: Points, energies: Points, wrap_j: float | None
) -> EnergyReading:
    """Return the energy of one meter between two edges.

    ``powers`` and ``energies`` are (time, watts) and (time, joules on the counter) as polled in between.
    """
    if begin.energy_j is None or end.energy_j is None:
        return of_power(powers, begin.at_s, end.at_s)
    seen = [joules for at_s, joules in energies if begin.at_s < at_s < end.at_s]
    course = [begin.energy_j, *seen, end.energy_j]
    reading = EnergyReading(
        validity=Validity.OK,
        joules=sum(advance(a, b, wrap_j) for a, b in pairwise(course)),
        seconds=end.at_s - begin.at_s,
        begin_s=begin.at_s,
        end_s=end.at_s,
        ticks=sum(a != b for a, b in pairwise(course)),
        method=Method.COUNTER,
        polled_joules=_polled_joules(powers, begin.at_s, end.at_s),
    )
    if wrap_j is None and any(b < a for a, b in pairwise(course)):
        return replace(reading, validity=Validity.RESET, detail="the counter fell: the driver was reloaded")
    return _judged(reading, begin, end)


def of_power(powers: Points, begin_s: float, end_s: float) -> EnergyReading:
    """Return the energy of a meter without a counter, from its polled power."""
    joules = _polled_joules(powers, begin_s, end_s)
    polls = sum(begin_s <= at_s <= end_s for at_s, _ in powers)
    reading = EnergyReading(
        validity=Validity.OK,
        joules=joules,
        seconds=end_s - begin_s,
        begin_s=begin_s,
        end_s=end_s,
        ticks=polls,
        method=Method.POWER,
        polled_joules=joules,
    )
    if joules is None:
        return EnergyReading(validity=Validity.NO_SOURCE, detail="neither a counter nor polled power")
    if polls < MIN_POLLS:
        detail = f"{polls} polls of the power; at least {MIN_POLLS} are needed: make the window longer"
        return replace(reading, validity=Validity.TOO_SHORT, detail=detail)
    return reading


def of_declared(watts: float, begin_s: float, end_s: float) -> EnergyReading:
    """Return the energy at a power that the configuration states."""
    return EnergyReading(
        validity=Validity.OK,
        joules=watts * (end_s - begin_s),
        seconds=end_s - begin_s,
        begin_s=begin_s,
        end_s=end_s,
        method=Method.DECLARED,
    )


def together(parts: Sequence[EnergyReading]) -> EnergyReading:
    """Return the energy of several meters over the time that their windows, a tick apart, have in common.

    The first part that is not valid decides the verdict.
    """
    if len(parts) == 1:
        return parts[0]
    worst = next((part for part in parts if not part.is_valid), parts[0])
    begins = [part.begin_s for part in parts if part.begin_s is not None]
    ends = [part.end_s for part in parts if part.end_s is not None]
    watts = [part.watts for part in parts if part.watts is not None]
    if len(watts) < len(parts) or max(begins) >= min(ends):
        return EnergyReading(validity=worst.validity, detail=worst.detail)
    seconds = min(ends) - max(begins)
    polled = [
        part.polled_joules / part.seconds for part in parts if part.polled_joules is not None and part.seconds
    ]
    return EnergyReading(
        validity=worst.validity,
        detail=worst.detail,
        joules=sum(watts) * seconds,
        seconds=seconds,
        begin_s=max(begins),
        end_s=min(ends),
        ticks=min(part.ticks for part in parts),
        method=Method.COUNTER if all(p.method is Method.COUNTER for p in parts) else Method.POWER,
        polled_joules=sum(polled) * seconds if len(polled) == len(parts) else None,
    )


def _polled_joules(powers: Points, begin_s: float, end_s: float) -> float | None:
    inside = [at_s for at_s, _ in powers if begin_s <= at_s <= end_s]
    gaps = [b - a for a, b in pairwise([begin_s, *inside, end_s])]
    return None if max(gaps) > MAX_POLL_GAP_S else integrate(powers, begin_s, end_s)


def _judged(reading: EnergyReading, begin: EdgeFound, end: EdgeFound) -> EnergyReading:
    seconds, disagreement = reading.seconds or 0.0, reading.disagreement
    if reading.ticks < MIN_TICKS:
        detail = f"the counter moved {reading.ticks} times; make the window longer"
        return replace(reading, validity=Validity.TOO_SHORT, detail=detail)
    if not (begin.ticked and end.ticked):
        return replace(reading, validity=Validity.UNALIGNED, detail="the counter stood still at one end")
    if begin.within_s + end.within_s > MAX_EDGE_SHARE * seconds:
        detail = f"its ends are known to {begin.within_s + end.within_s:.3f} s only: the host is busy"
        return replace(reading, validity=Validity.UNALIGNED, detail=detail)
    # Polls of 100 ms say little about the power of a short window.
    if disagreement is not None and seconds >= 1 and abs(disagreement) > MAX_DISAGREEMENT:
        detail = f"the counter says {disagreement:+.0%} against the polled power"
        return replace(reading, validity=Validity.DISAGREES, detail=detail)
    return reading
