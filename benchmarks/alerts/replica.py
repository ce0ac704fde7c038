"""What Prometheus sees of a history: scraped counters, and its own increase() over them."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.alerts.histories import Floats, History

SCRAPE_S = 15.0
SCRAPE_PHASE_S = 7.0
START = 1_000_000.0
"""Where the counters stand at first: far from 0, where increase() would extrapolate less."""
COUNTERS = ("requests", "breaches", "runs", "confirmations", "confirmed_breaches", "confirmed_runs")


def counters(history: History) -> dict[str, Floats]:
    """Return each counter after every request, as the exporter counts."""
    scheduled, breached = ~history.confirming, history.breached
    of_schedule = np.zeros(len(breached), bool)
    of_schedule[scheduled] = _starts(breached[scheduled])
    flags = {
        "requests": scheduled,
        "breaches": scheduled & breached,
        "runs": of_schedule,
        "confirmations": ~scheduled,
        "confirmed_breaches": ~scheduled & breached,
        "confirmed_runs": _starts(breached),
    }
    return {name: np.cumsum(flag).astype(float) for name, flag in flags.items()}


def _starts(breached: np.ndarray) -> np.ndarray:
    return breached & ~np.concatenate([[False], breached[:-1]])


def in_a_row(history: History) -> Floats:
    """Return after every request how many scheduled ones in a row have breached."""
    flags = history.breached[~history.confirming]
    places = np.arange(len(flags))
    rows = places - np.maximum.accumulate(np.where(flags, -1, places))
    after = np.cumsum(~history.confirming) - 1
    return np.where(after >= 0, rows[np.maximum(after, 0)], 0).astype(float)


@dataclass
class Scraped:
    """A history as scraped every 15 s, evaluated at chosen times."""

    history: History
    at_s: Floats
    """Times of evaluation."""
    length_s: float
    _series: dict[str, Floats] = field(default_factory=dict)
    _increases: dict[tuple[str, float], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scrapes_s = np.arange(SCRAPE_PHASE_S, self.length_s, SCRAPE_S)
        seen = np.searchsorted(self.history.at_s, self.scrapes_s, "right")
        for name, values in (counters(self.history) | {"row": in_a_row(self.history)}).items():
            start = 0.0 if name == "row" else START
            self._series[name] = start + np.concatenate([[0.0], values])[seen]
        self._last = self._at(self.at_s)

    def _at(self, at_s: Floats) -> np.ndarray:
        return np.floor((at_s - SCRAPE_PHASE_S) / SCRAPE_S).astype(int)

    def series(self, name: str) -> Floats:
        """Return the series at every scrape."""
        return self._series[name]

    def now(self, name: str, ago_s: float = 0.0) -> Floats:
        """Return the value at every evaluation, or so long before it."""
        return self._series[name][np.maximum(self._at(self.at_s - ago_s), 0)]

    def increase(self, name: str, window_s: float) -> Floats:
        """Return increase(name[window]): both ends extrapolated, as for scrapes without a gap."""
        key = (name, window_s)
        if key not in self._increases:
            first = np.maximum(np.ceil((self.at_s - window_s - SCRAPE_PHASE_S) / SCRAPE_S).astype(int), 0)
            values = self._series[name]
            covered_s = np.maximum((self._last - first) * SCRAPE_S, SCRAPE_S)
            self._increases[key] = (values[self._last] - values[first]) * (window_s / covered_s)
        return self._increases[key]
