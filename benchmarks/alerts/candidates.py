"""Every candidate for the page, over what Prometheus sees; each gives one bool an evaluation."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from benchmarks.alerts.histories import Bools, Floats
from benchmarks.alerts.replica import Scraped
from prometheus.confirmed import LEAST_RUNS as CONFIRMED_RUNS
from prometheus.confirmed import MINUTES
from prometheus.promql import at_least, seconds
from prometheus.sla_rules import BURN_RATES, IN_A_ROW, LEAST_RUNS, PAGE_LOOKS, SOONEST_NATS

Q = 0.01
"""What a P99 allows to breach."""
EVALUATION_S = 30.0
Rule = Callable[[Scraped], Bools]


def nats(k: Floats, n: Floats) -> Floats:
    """Return n KL(k/n || q), 0 where k <= n q."""
    k, good = np.maximum(k, 1e-9), np.maximum(n - k, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (k * np.log(k / (n * Q)) + good * np.log(good / (n * (1 - Q)))) * (k > n * Q)


def ratio(seen: Scraped, window: str) -> Floats:
    """Return the share of breaches, NaN without requests."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return seen.increase("breaches", seconds(window)) / seen.increase("requests", seconds(window))


def lasting(condition: Bools, wait_s: float) -> Bools:
    """Return where the condition has held for so long, as `for:` wants it."""
    steps = int(wait_s / EVALUATION_S) + 1
    held = np.convolve(condition, np.ones(steps, int))[: len(condition)]
    return held == steps


def fraction(window: str, wait_s: float = 300.0, least: int = 0) -> Rule:
    """More than the budget in the window: what histogram_quantile(0.99) > SLA says, with a bucket there."""

    def rule(seen: Scraped) -> Bools:
        enough = seen.increase("breaches", seconds(window)) > at_least(least)
        return lasting((ratio(seen, window) > Q) & enough, wait_s)

    return rule


def burn_rates(least: int = 0) -> Rule:
    """The page of the SRE workbook, or with ``least`` breaches, one of them fresh, that of our rule."""

    def rule(seen: Scraped) -> Bools:
        hits = [
            (ratio(seen, long) > factor * Q)
            & (ratio(seen, short) > factor * Q)
            & (seen.increase("breaches", seconds(long)) > at_least(least))
            for long, short, factor in BURN_RATES
        ]
        fresh = seen.increase("breaches", 300) > at_least(1 if least else 0)
        return np.logical_or.reduce(hits) & fresh

    return rule


def evidence(*, discount: bool, level: float | None = None) -> Rule:
    """Nats over the page's windows, with or without the discount for runs; None: each window's own level."""

    def rule(seen: Scraped) -> Bools:
        fires = np.zeros(len(seen.at_s), bool)
        for look in PAGE_LOOKS:
            window_s = seconds(look.window)
            k, n, r = (seen.increase(name, window_s) for name in ("breaches", "requests", "runs"))
            share = np.minimum(r / np.maximum(k, 1e-9), 1) if discount else 1.0
            fresh = seen.increase("breaches", seconds(look.guard)) > at_least(1)
            enough = (r > at_least(LEAST_RUNS)) if discount else True
            fires |= (nats(k, n) * share > (level or look.nats)) & enough & fresh
        return fires

    return rule


def wilson(z: float) -> Rule:
    """Lower bound of the Wilson interval above the budget, over 1 h and 6 h: a normal tail."""

    def rule(seen: Scraped) -> Bools:
        fires = np.zeros(len(seen.at_s), bool)
        for window in ("1h", "6h"):
            k, n = seen.increase("breaches", seconds(window)), seen.increase("requests", seconds(window))
            p = k / n
            bound = p + z**2 / (2 * n) - z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n * n))
            fires |= bound / (1 + z**2 / n) > Q
        return fires

    return rule


def in_a_row(seen: Scraped) -> Bools:
    """The last breaches have been so many in a row."""
    return seen.now("row") >= IN_A_ROW


def page(seen: Scraped) -> Bools:
    """InferenceSLABreach without confirmation probes."""
    return evidence(discount=True)(seen) | in_a_row(seen) | burn_rates(IN_A_ROW)(seen)


def confirmed(slots: int, level: float = SOONEST_NATS, least_runs: int = CONFIRMED_RUNS) -> Rule:
    """Evidence of scheduled and confirming probes over 15 min, with a breach in each of so many minutes."""

    def rule(seen: Scraped) -> Bools:
        k, n = (
            seen.increase(a, 900) + seen.increase(b, 900)
            for a, b in (("breaches", "confirmed_breaches"), ("requests", "confirmations"))
        )
        r = seen.increase("confirmed_runs", 900)
        fires = (nats(k, n) * np.minimum(r / np.maximum(k, 1e-9), 1) > level) & (r > at_least(least_runs))
        total = [
            seen.now("breaches", 60.0 * minute) + seen.now("confirmed_breaches", 60.0 * minute)
            for minute in range(slots + 1)
        ]
        return fires & np.logical_and.reduce([a > b for a, b in pairwise(total)] or [True])

    return rule


PLAIN: dict[str, Rule] = {
    "P99 of 5 min > SLA for 5 min": fraction("5m"),
    "P99 of 1 h > SLA for 5 min": fraction("1h"),
    "the same with 3 breaches or more": fraction("1h", least=3),
    "burn rates 14.4x and 6x": burn_rates(),
    "Wilson, z = 3.09, 1 h and 6 h": wilson(3.09),
    "evidence > 9 nats": evidence(discount=False, level=9.0),
    "effective evidence > 9": evidence(discount=True, level=9.0),
    "**InferenceSLABreach**": page,
}
CONFIRMED: dict[str, Rule] = {
    "page or confirmed, 1 blip can page": lambda seen: page(seen) | confirmed(0)(seen),
    "page or confirmed in 3 minutes": lambda seen: page(seen) | confirmed(3)(seen),
    "**InferenceSLABreach**": lambda seen: page(seen) | confirmed(MINUTES)(seen),
}
