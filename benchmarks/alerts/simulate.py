"""False pages of services that keep their objective, and delays for services that stop keeping it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.alerts.candidates import EVALUATION_S, Rule
from benchmarks.alerts.histories import (
    MONTH_S,
    Bools,
    Probing,
    Service,
    blips,
    degrading,
    independent,
    probe,
)
from benchmarks.alerts.replica import Scraped
from prometheus.promql import seconds

KEEP_S = 600.0
"""keep_firing_for: what fires again within it is one page."""
WARM_S = float(seconds("6h"))
RATES = {0.05: 48.0, 0.1: 24.0, 0.2: 12.0, 0.5: 6.0, 1.0: 4.0}
"""Share of breaches after the change, and the hours that are watched."""
BEFORE = 0.002


@dataclass(frozen=True)
class Delay:
    """Minutes from the change to the page; inf where it did not come."""

    median: float
    most: float
    """Of 95 %."""


def keeping(every_s: float) -> dict[str, "Model"]:
    """Return the services that keep a P99, by name."""
    runs = 3 * every_s
    return {
        "independent 1 %": Model(0.01, 0.0, every_s),
        "independent 0.5 %": Model(0.005, 0.0, every_s),
        "runs of 3, 0.5 %": Model(0.005, runs, every_s),
        "runs of 3, 0.9 %": Model(0.009, runs, every_s),
        "half-bad blips of 45 s, 0.9 %": Model(0.009, 45.0, 15.0, 0.5),
    }


@dataclass(frozen=True)
class Model:
    """A service at a constant rate of breaches; ``mean_s`` 0 means independent ones."""

    rate: float
    mean_s: float
    slot_s: float
    cover: float = 1.0

    def service(self, rng: np.random.Generator, length_s: float) -> Service:
        """Return one realisation."""
        if not self.mean_s:
            return independent(rng, self.rate)
        return blips(rng, self.rate, self.mean_s, self.slot_s, length_s, cover=self.cover)


def evaluations(start_s: float, end_s: float, rng: np.random.Generator) -> np.ndarray:
    """Return the times at which the rules are evaluated."""
    return np.arange(start_s + rng.uniform(0, EVALUATION_S), end_s, EVALUATION_S)


def episodes(fires: Bools) -> int:
    """Count the pages."""
    at = np.flatnonzero(fires)
    return 0 if len(at) == 0 else 1 + int((np.diff(at) * EVALUATION_S > KEEP_S).sum())


def false_pages(model: Model, probing: Probing, rules: Mapping[str, Rule], months: int) -> dict[str, float]:
    """Return false pages a target-month for each rule."""
    counts: dict[str, int] = dict.fromkeys(rules, 0)
    for month in range(months):
        rng = np.random.default_rng([1, month])
        length_s = WARM_S + MONTH_S
        history = probe(rng, model.service(rng, length_s), probing, length_s)
        seen = Scraped(history, evaluations(WARM_S, length_s, rng), length_s)
        for name, rule in rules.items():
            counts[name] += episodes(rule(seen))
    return {name: count / months for name, count in counts.items()}


def delays(rate: float, probing: Probing, rules: Mapping[str, Rule], histories: int) -> dict[str, Delay]:
    """Return how long each rule takes to page, over histories in which it was quiet before."""
    found: dict[str, list[float]] = {name: [] for name in rules}
    for name, minutes in _each(rate, probing, rules, histories):
        found[name].append(minutes)
    return {
        name: Delay(*(float(np.percentile(m, q, method="inverted_cdf")) for q in (50, 95)))
        if m
        else Delay(np.nan, np.nan)
        for name, m in found.items()
    }


def _each(
    rate: float, probing: Probing, rules: Mapping[str, Rule], histories: int
) -> Iterator[tuple[str, float]]:
    change_s = WARM_S + 3600.0
    length_s = change_s + RATES[rate] * 3600.0
    for number in range(histories):
        rng = np.random.default_rng([2, number, int(rate * 100)])
        service = degrading(independent(rng, BEFORE), independent(rng, rate), change_s)
        history = probe(rng, service, probing, length_s)
        seen = Scraped(history, evaluations(change_s - 900.0, length_s, rng), length_s)
        after = seen.at_s >= change_s
        for name, rule in rules.items():
            fires = rule(seen)
            if fires[~after].any():
                continue
            at = np.flatnonzero(fires & after)
            yield name, (seen.at_s[at[0]] - change_s) / 60 if len(at) else np.inf
