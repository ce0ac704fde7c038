"""Writes benchmarks/alerts.md: every candidate, three intervals, independent and bursty breaches."""

import argparse
import os
import platform
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.alerts import physics
from benchmarks.alerts.candidates import CONFIRMED, PLAIN, Rule
from benchmarks.alerts.histories import Probing
from benchmarks.alerts.real import Agreement, compare
from benchmarks.alerts.simulate import RATES, Delay, delays, false_pages, keeping
from benchmarks.host import cpu_model
from prometheus.sla_rules import NATS

REPORT = Path(__file__).parents[1] / "alerts.md"
INTERVALS = (15.0, 30.0, 60.0)


_NEEDED = f"""\
Requests until n KL(p || 1 %) reaches {NATS} nats, the level of the page: with less, chance explains them at
least as often as exp(-{NATS}) a look, whatever the rule."""
_LONGER = """\
Disturbances a month that last longer, for a service at 0.9 % whose disturbances take 45 s on average. Until
then each of them looks like the beginning of an outage, to any number of probes: a rule that pages for a
total breach within that time pages for each of them."""


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--months", type=int, default=100, help="target-months a cell of false pages")
    parser.add_argument("--histories", type=int, default=200, help="histories a cell of delays")
    options = parser.parse_args()
    began_s, load = time.monotonic(), os.getloadavg()[0]
    sections = []
    for every_s in INTERVALS:
        for confirm_s in (0.0, 3.0):
            rules = CONFIRMED if confirm_s else PLAIN
            sections += [_section(Probing(every_s, confirm_s), rules, options.months, options.histories)]
    agreement = compare() if shutil.which("promtool") and shutil.which("prometheus") else None
    head = _head(options.months, options.histories, load, time.monotonic() - began_s, agreement)
    REPORT.write_text("\n\n".join([head, *sections, _physics()]) + "\n", encoding="utf-8")


def _section(probing: Probing, rules: Mapping[str, Rule], months: int, histories: int) -> str:
    false = {
        name: false_pages(model, probing, rules, months) for name, model in keeping(probing.every_s).items()
    }
    found = {rate: delays(rate, probing, rules, histories) for rate in RATES}
    heads = [*false, *(f"{rate:.0%}" for rate in found)]
    lines = [_row(["rule", *heads]), _row(["---"] * (len(heads) + 1))]
    for name in rules:
        cells = [f"{pages[name]:.2f}" for pages in false.values()]
        cells += [_minutes(delay[name]) for delay in found.values()]
        lines.append(_row([name, *cells]))
    kind = ", a breach confirmed every 3 s for 60 s, at most 150 an hour" if probing.confirm_every_s else ""
    return f"## One probe every {probing.every_s:g} s{kind}\n\n" + "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _minutes(delay: Delay) -> str:
    def one(minutes: float) -> str:
        if np.isnan(minutes):
            return "-"
        if np.isinf(minutes):
            return "never"
        return f"{minutes:.0f} m" if minutes < 120 else f"{minutes / 60:.1f} h"

    return f"{one(delay.median)} / {one(delay.most)}"


def _head(months: int, histories: int, load: float, took_s: float, agreement: Agreement | None) -> str:
    real = "Prometheus was not there to compare with."
    if agreement:
        real = (
            "The committed rule in a real Prometheus over backfilled blocks and this replica differed in\n"
            f"  {agreement.differing} of {agreement.evaluations:,} evaluations; in {agreement.firing:,} of "
            "these the rule fires (22 histories, at 15 s and\n  60 s, with and without confirmation)."
        )
    return f"""\
# What the SLA page costs and finds

Written by `python -m benchmarks.alerts` in {took_s:.0f} s; fixed seeds, the same numbers each time.

- {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} x {cpu_model()}, load average {load:.2f} before, \
{os.getloadavg()[0]:.2f} after, Python {platform.python_version()}, numpy {np.__version__}
- One P99 objective. Counters scraped every 15 s, rules evaluated every 30 s, `keep_firing_for: 10m`. Minutes
  count from the change to the evaluation that fires: waiting for scrape and evaluation is in them.
- {real}

**Left columns: false pages a target-month**, over {months} target-months, for services that keep the
objective. *Runs of 3*: breaches come in disturbances of three probes on average (geometric), in which
every request breaches. *Half-bad blips*: disturbances of 45 s on average, in which every second one breaches.
**Right columns: minutes from the change to the page, median / 95 %**, over {histories} histories that go from
0.2 % to the share shown, independent. Histories in which the rule fired just before are left out, which
flatters the noisy rules."""


def _physics() -> str:
    lines = [
        "## What no rule can beat",
        "",
        _NEEDED,
        "",
        _row(["share of breaches", "nats a request", "requests", "at 15 s", "at 3 s"]),
        _row(["---"] * 5),
    ]
    for rate in (0.02, *RATES):
        count = physics.requests_needed(rate, NATS)
        lines.append(
            _row(
                [
                    f"{rate:.0%}",
                    f"{physics.divergence(rate):.3f}",
                    f"{count:.0f}",
                    f"{count * 15 / 60:.1f} m",
                    f"{count * 3 / 60:.1f} m",
                ]
            )
        )
    lines += [
        "",
        _LONGER,
        "",
        _row(["minutes", "every request in them breaches", "every second one"]),
        _row(["---"] * 3),
    ]
    for minutes in (1, 2, 3, 4, 5, 6):
        longer = [
            physics.blips_longer_than(minutes, rate=rate, mean_s=45, slot_s=15) for rate in (0.009, 0.018)
        ]
        lines.append(_row([str(minutes), *(f"{count:.2f}" for count in longer)]))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
