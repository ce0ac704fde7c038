"""Requests that breach or not, in three models, with and without confirmation probes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Service = Callable[[Floats], Bools]
"""Tells for the times of requests, in seconds and rising, which breach."""

DAY_S = 86400.0
MONTH_S = 30 * DAY_S


@dataclass(frozen=True)
class Probing:
    """Scheduled probes, and what follows a breach."""

    every_s: float
    confirm_every_s: float = 0.0
    """0 means: no confirmation probes."""
    confirm_for_s: float = 60.0
    """Confirmation ends this long after the last breach."""
    confirm_per_hour: int = 150


@dataclass(frozen=True)
class History:
    """Every request in order of time."""

    at_s: Floats
    breached: Bools
    confirming: Bools


def independent(rng: np.random.Generator, rate: float) -> Service:
    """Each request breaches with this probability, whatever the others do."""
    return lambda at_s: rng.random(len(at_s)) < rate


def blips(
    rng: np.random.Generator,
    rate: float,
    mean_s: float,
    slot_s: float,
    length_s: float,
    *,
    cover: float = 1.0,
) -> Service:
    """Disturbances of ``mean_s`` on average (geometric, in slots), in which the share ``cover`` breaches.

    Over all time the share ``rate`` of the requests breaches.
    """
    bad = rate / cover
    mean = mean_s / slot_s
    chance = bad / mean / (1 - bad)
    count = int(length_s / slot_s * bad / mean * 1.5) + 50
    lengths = rng.geometric(1 / mean, count)
    ends = np.cumsum(rng.geometric(chance, count) + lengths)
    start_s, end_s = (ends - lengths) * slot_s, ends * slot_s

    def breached(at_s: Floats) -> Bools:
        last = np.searchsorted(start_s, at_s, "right") - 1
        inside = (last >= 0) & (at_s < end_s[np.maximum(last, 0)])
        return inside if cover == 1 else inside & (rng.random(len(at_s)) < cover)

    return breached


def degrading(before: Service, after: Service, when_s: float) -> Service:
    """Be one service until a moment, and another from then on."""
    return lambda at_s: np.where(at_s < when_s, before(at_s), after(at_s))


def probe(rng: np.random.Generator, service: Service, probing: Probing, length_s: float) -> History:
    """Send the scheduled probes, and confirmations after breaches."""
    at_s = np.arange(rng.uniform(0, probing.every_s), length_s, probing.every_s)
    breached = service(at_s)
    if not probing.confirm_every_s:
        return History(at_s, breached, np.zeros(len(at_s), bool))
    extra_s, extra = _confirm(at_s[breached], service, probing)
    times = np.concatenate([at_s, extra_s])
    order = np.argsort(times, kind="stable")
    flags = np.concatenate([breached, extra])[order]
    kinds = np.concatenate([np.zeros(len(at_s), bool), np.ones(len(extra_s), bool)])[order]
    return History(times[order], flags, kinds)


def _confirm(breaches_s: Floats, service: Service, probing: Probing) -> tuple[Floats, Bools]:
    times: list[float] = []
    flags: list[bool] = []
    next_breach, step_s = 0, probing.confirm_every_s
    while next_breach < len(breaches_s):
        at_s = breaches_s[next_breach] + step_s
        end_s = breaches_s[next_breach] + probing.confirm_for_s
        next_breach += 1
        while True:
            while next_breach < len(breaches_s) and breaches_s[next_breach] <= at_s:
                end_s = breaches_s[next_breach] + probing.confirm_for_s
                next_breach += 1
            if at_s > end_s:
                break
            spent = len(times) >= probing.confirm_per_hour and (
                times[-probing.confirm_per_hour] > at_s - 3600
            )
            if not spent:
                flag = bool(service(np.array([at_s]))[0])
                times.append(at_s)
                flags.append(flag)
                end_s = at_s + probing.confirm_for_s if flag else end_s
            at_s += step_s
    return np.array(times), np.array(flags, bool)
