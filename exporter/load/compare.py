"""Two runs side by side: each figure with the confidence interval of its difference, and a verdict.

Latencies are resampled from the runs' histograms, failures among them as infinitely late.  With at least
``LEAST_ROUNDS`` repeats of a level on both sides whole repeats are resampled instead, because requests of one
repeat are alike and do not count as independent witnesses.  Source: Efron and Tibshirani, the percentile
bootstrap; each interval stands for itself, 95 %.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exporter.model.load_figures import figures_of
from exporter.model.load_histogram import Distribution
from exporter.model.load_judgement import client_limits
from exporter.model.load_plan import Mode
from exporter.model.load_result import LoadRun, Step, joined

DRAWS = 1000
LEAST_ROUNDS = 5
LEVEL = 0.95
_FIXED = ("api", "stream", "mode", "prompts", "temperature", "trace", "timeout_s", "settle_s", "good")
_PERCENTILES = (("ttft", 0.5), ("ttft", 0.99), ("tpot", 0.5), ("itl", 0.99), ("e2e", 0.5), ("e2e", 0.99))
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One figure of one level; ``low`` and ``high`` bound the relative difference (b - a) / a."""

    level: float
    figure: str
    a: float | None
    b: float | None
    low: float | None
    high: float | None
    n_a: int
    n_b: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that can be said of two runs."""

    differences: tuple[Difference, ...]
    left_out: tuple[str, ...]
    """Levels that were not compared, and why."""


def fixed_differences(a: LoadRun, b: LoadRun) -> tuple[str, ...]:
    """Return which parameters that must be the same are not, in words."""
    found = [
        f"{name}: {_short(getattr(a.plan, name))} against {_short(getattr(b.plan, name))}"
        for name in _FIXED
        if getattr(a.plan, name) != getattr(b.plan, name)
    ]
    if a.served.model != b.served.model:
        found.append(f"model: {a.served.model} against {b.served.model}")
    return tuple(found)


def sides(run: LoadRun) -> tuple[LoadRun, LoadRun] | None:
    """Return an interleaved run as two; None where it has one target only."""
    if run.served_b is None:
        return None
    first, second = (tuple(step for step in run.steps if step.side == side) for side in "ab")
    alone = replace(run, served_b=None)
    return replace(alone, steps=first), replace(alone, steps=second, served=run.served_b)


def compare(a: LoadRun, b: LoadRun, rng: np.random.Generator) -> Comparison:
    """Compare level by level; ``rng`` draws the resamples."""
    found: list[Difference] = []
    left_out = []
    levels_b = {step.level for step in b.steps}
    for level in dict.fromkeys(step.level for step in a.steps):
        if level not in levels_b:
            left_out.append(f"{level:g}: only in the first run")
            continue
        steps = [[step for step in run.steps if step.level == level] for run in (a, b)]
        limited = [
            name
            for name, run, own in (("first", a, steps[0]), ("second", b, steps[1]))
            if any(client_limits(run.plan, step) for step in own)
        ]
        if limited:
            left_out.append(f"{level:g}: the client was the limit in the {' and the '.join(limited)} run")
            continue
        found += _level(level, a.plan.mode, steps[0], steps[1], rng)
    left_out += [f"{lv:g}: only in the second run" for lv in sorted(levels_b - {s.level for s in a.steps})]
    return Comparison(tuple(found), tuple(left_out))


def _level(
    level: float, mode: Mode, a: Sequence[Step], b: Sequence[Step], rng: np.random.Generator
) -> Iterator[Difference]:
    by_rounds = min(len(a), len(b)) >= LEAST_ROUNDS
    ends = [joined(tuple(step.tally for step in steps)).ended for steps in (a, b)]
    for clock, ratio in _PERCENTILES:
        figure = f"{clock} p{ratio * 100:g}"
        draw = _by_rounds if by_rounds else _by_requests
        drawn = [draw(steps, clock, ratio, rng) for steps in (a, b)]
        if drawn[0] is not None and drawn[1] is not None:
            values = [_percentile(steps, clock, ratio) for steps in (a, b)]
            yield _difference(level, figure, values, (drawn[0], drawn[1]), ends, lower_is_better=True)
    for figure, value in (("success ratio", _success), ("goodput ratio", _goodness), ("QPS", _rate)):
        if figure == "QPS" and (mode is not Mode.CLOSED or not by_rounds):
            continue
        draws = [_of_rounds(own, value, rng) if by_rounds else _shares(own, value, rng) for own in (a, b)]
        values = [value(joined_steps(steps)) for steps in (a, b)]
        yield _difference(level, figure, values, (draws[0], draws[1]), ends, lower_is_better=False)


def joined_steps(steps: Sequence[Step]) -> Step:
    """Return several repeats of a level as one step; its wall time is their sum."""
    tally = joined(tuple(step.tally for step in steps))
    return replace(steps[0], tally=replace(tally, wall_s=sum(step.tally.wall_s for step in steps)))


def _success(step: Step) -> float | None:
    return figures_of(step.tally).success_ratio


def _goodness(step: Step) -> float | None:
    return figures_of(step.tally).goodput_ratio


def _rate(step: Step) -> float | None:
    return figures_of(step.tally).success_qps


def _values(steps: Sequence[Step], clock: str) -> tuple[Distribution, int]:
    tally = joined(tuple(step.tally for step in steps))
    return getattr(tally, clock), 0 if clock == "itl" else tally.failed


def _percentile(steps: Sequence[Step], clock: str, ratio: float) -> float | None:
    values, failed = _values(steps, clock)
    return values.percentile_s(ratio, failed)


def _by_requests(steps: Sequence[Step], clock: str, ratio: float, rng: np.random.Generator) -> Numbers | None:
    """Draw the percentile as if every value were independent."""
    values, failed = _values(steps, clock)
    if not values.n:
        return None
    pairs = [*values.values(), *([(math.inf, failed)] if failed else [])]
    seconds, counts = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    n = int(counts.sum())
    drawn = rng.multinomial(n, counts / n, size=DRAWS).cumsum(axis=1)
    rank = max(1, math.ceil(round(ratio * n, 9)))
    percentiles: Numbers = seconds[(drawn >= rank).argmax(axis=1)]
    return percentiles


def _by_rounds(steps: Sequence[Step], clock: str, ratio: float, rng: np.random.Generator) -> Numbers | None:
    if not any(_values([step], clock)[0].n for step in steps):
        return None
    return _of_rounds(steps, lambda step: _percentile([step], clock, ratio), rng)


def _of_rounds(
    steps: Sequence[Step], value: Callable[[Step], float | None], rng: np.random.Generator
) -> Numbers:
    """Draw the mean over repeats of a figure."""
    each = [value(step) for step in steps]
    known = np.array([v for v in each if v is not None])
    if not known.size:
        return np.full(DRAWS, np.nan)
    means: Numbers = known[rng.integers(0, len(known), size=(DRAWS, len(known)))].mean(axis=1)
    return means


def _shares(
    steps: Sequence[Step], value: Callable[[Step], float | None], rng: np.random.Generator
) -> Numbers:
    """Draw a share of requests as if every request were independent."""
    step = joined_steps(steps)
    n, share = max(1, step.tally.ended), value(step) or 0.0
    return rng.binomial(n, share, size=DRAWS) / n


def _difference(
    level: float,
    figure: str,
    values: Sequence[float | None],
    drawn: tuple[Numbers, Numbers],
    ends: Sequence[int],
    *,
    lower_is_better: bool,
) -> Difference:
    low = high = None
    one, other = drawn
    usable = np.isfinite(one) & np.isfinite(other) & (one > 0)
    if usable.mean() > LEVEL:
        relative = other[usable] / one[usable] - 1
        tail = (1 - LEVEL) / 2
        low, high = (float(x) for x in np.quantile(relative, [tail, 1 - tail]))
    return Difference(
        level=level,
        figure=figure,
        a=values[0],
        b=values[1],
        low=low,
        high=high,
        n_a=ends[0],
        n_b=ends[1],
        verdict=_verdict(low, high, min(ends), better_word=_words(figure), lower_is_better=lower_is_better),
    )


def _words(figure: str) -> tuple[str, str]:
    return ("better", "worse") if figure.endswith("ratio") else ("faster", "slower")


def _verdict(
    low: float | None, high: float | None, n: int, *, better_word: tuple[str, str], lower_is_better: bool
) -> str:
    """Return what may be said of the second against the first."""
    if low is None or high is None:
        return "cannot tell: the percentile is a failure's"
    if low == high == 0:
        return "the same"
    if low > 0 or high < 0:
        is_better = (high < 0) if lower_is_better else (low > 0)
        return better_word[0] if is_better else better_word[1]
    middle, half = (low + high) / 2, (high - low) / 2
    if abs(middle) < half / 30:
        return f"cannot tell: within {half:.1%} of each other"
    more = math.ceil(n * ((half / abs(middle)) ** 2 - 1))
    return f"cannot tell, needs about {max(more, 1):,} more requests"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
