"""What load tests do to the metrics."""

from collections.abc import Iterator

from exporter.metrics.catalogue import load as names
from exporter.metrics.family import Sample
from exporter.model.load_figures import is_complete
from exporter.model.load_histogram import Distribution
from exporter.model.load_judgement import client_limits
from exporter.model.load_plan import Mode
from exporter.model.load_result import LoadRun, Step

Who = tuple[str, str, str]


def initial(who: Who) -> Iterator[Sample]:
    """Yield how the series of a scheduled load test stand before its first run."""
    for counter in (names.RUNS, names.RUN_SECONDS, names.REQUESTS, names.GOOD, names.CLIENT_LIMITED):
        yield Sample(counter, who, None)
    for family, label in ((names.RUN_FAILURES, "reason"), (names.FAILURES, "reason"), (names.TOKENS, "kind")):
        for value in family.values_of(label):
            yield Sample(family, (*who, value), None)
    for histogram in (names.DURATION, names.TTFT, names.ITL):
        yield Sample(histogram, who, None)
    yield Sample(names.IN_FLIGHT, who, 0)


def under_way(who: Who, in_flight: int, offered: float | None) -> Iterator[Sample]:
    """Yield what shows while a test is running; ``offered`` is requests a second, None in a closed loop."""
    yield Sample(names.IN_FLIGHT, who, in_flight)
    yield Sample(names.OFFERED, who, offered)


def not_run(who: Who, reason: str) -> Iterator[Sample]:
    """Yield what a test that came up and was not run changes; ``reason`` is one of the catalogue's."""
    yield Sample(names.RUNS, who, 1)
    yield Sample(names.RUN_FAILURES, (*who, reason), 1)


def of_run(who: Who, run: LoadRun, finished_unix_s: float) -> Iterator[Sample]:
    """Yield what one run changes."""
    yield Sample(names.RUNS, who, 1)
    yield Sample(names.LAST_RUN, who, finished_unix_s)
    yield from under_way(who, 0, None)
    if not is_complete(run):
        yield Sample(names.RUN_FAILURES, (*who, "ended_early"), 1)
    for step in run.steps:
        yield from _of_step(who, run, step)


def _of_step(who: Who, run: LoadRun, step: Step) -> Iterator[Sample]:
    tally = step.tally
    yield Sample(names.RUN_SECONDS, who, tally.wall_s)
    yield Sample(names.REQUESTS, who, tally.ended)
    yield Sample(names.GOOD, who, tally.good)
    for ended in tally.outcomes:
        if ended.outcome.is_failure and ended.outcome.counts_for_sla:
            yield Sample(names.FAILURES, (*who, ended.outcome), ended.count)
    yield Sample(names.TOKENS, (*who, "input"), tally.input_tokens)
    yield Sample(names.TOKENS, (*who, "output"), tally.output_tokens)
    if client_limits(run.plan, step):
        yield Sample(names.CLIENT_LIMITED, who, 1)
        return
    for family, values in ((names.DURATION, tally.e2e), (names.TTFT, tally.ttft), (names.ITL, tally.itl)):
        for value_s, count in _pairs(values):
            yield Sample(family, who, value_s, count)


def _pairs(values: Distribution) -> Iterator[tuple[float, int]]:
    """Yield the values of a distribution, each at most 0.4 % from what was measured."""
    return values.values()


def offered_rate(mode: Mode, level: float) -> float | None:
    """Return the rate that a step asks for; None in a closed loop and in a trace's replay."""
    return level if mode in {Mode.POISSON, Mode.CONSTANT} else None
