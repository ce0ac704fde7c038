"""How many requests evidence takes, and how many disturbances last how long: what no rule can beat."""

import math

from benchmarks.alerts.candidates import Q


def divergence(p: float) -> float:
    """Return KL(p || q) in nats: what one request of a service at ``p`` tells on average."""
    good = 0.0 if p >= 1 else (1 - p) * math.log((1 - p) / (1 - Q))
    return p * math.log(p / Q) + good


def requests_needed(p: float, nats: float) -> float:
    """Return how many requests a service at ``p`` needs until n KL(p || q) is that evidence."""
    return nats / divergence(p)


def blips_longer_than(minutes: float, *, rate: float, mean_s: float, slot_s: float) -> float:
    """Return how many disturbances a month last longer: what a rule pages for that pages within that time."""
    mean = mean_s / slot_s
    a_month = 30 * 86400 / slot_s * rate / mean
    return a_month * (1 - 1 / mean) ** (minutes * 60 / slot_s)
