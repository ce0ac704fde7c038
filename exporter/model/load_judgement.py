"""What the figures of a run say, in words: the server's limit told apart from the client's own.

The thresholds are rules of reading, not statistics; every finding carries the figures it rests on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from exporter.model.load_figures import Figures, figures_of, level_name
from exporter.model.load_plan import LoadPlan, Mode
from exporter.model.load_result import Step, Tally
from exporter.model.outcome import Outcome

LEAST_ACHIEVED = 0.95
MOST_INVALID = 0.05
MOST_LATE = 0.01
TAIL_RATIO = 3.0
FLAT_GAIN = 0.05
"""Throughput that grows by less than this while the load grows by half is flat."""
LEAST_GROWTH = 1.5
INVESTIGATE_BELOW = 0.95
_TIMEOUTS = (
    *(Outcome.TIMEOUT_CONNECT, Outcome.TIMEOUT_FIRST_TOKEN),
    *(Outcome.TIMEOUT_STALL, Outcome.TIMEOUT_TOTAL),
)
_MILLI = 1e3


class Finding(StrEnum):
    """What a step shows; a step can show several."""

    CLIENT_LIMITED = "client_limited"
    SATURATED = "saturated"
    QUEUEING = "queueing"
    RATE_LIMITED = "rate_limited"
    TIMING_OUT = "timing_out"
    FAILING = "failing"
    FEW_SAMPLES = "few_samples"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A finding about one step and the sentence that says why."""

    step: int
    finding: Finding
    words: str


def client_limits(plan: LoadPlan, step: Step) -> tuple[str, ...]:
    """Return why the client, not the server, set this step's figures; empty where it did not.

    In flight is counted from the kernel's stamp of the last byte, not from when a client came to read it: a
    client that drowns holds on to answers that arrived long ago, and the server sees fewer requests.
    """
    return tuple(_client_limits(plan, step.tally, step.level))


def _client_limits(plan: LoadPlan, tally: Tally, level: float) -> Iterator[str]:
    figures = figures_of(tally)
    achieved = figures.achieved_concurrency
    cut_short = tally.sent < 2 * level
    # A refused request is over at once, and its client looks idle: that is the server's doing.
    is_telling = plan.mode is Mode.CLOSED and not cut_short and tally.failed == 0
    if is_telling and achieved is not None and achieved < LEAST_ACHIEVED * level:
        yield f"{achieved:.1f} of {level:g} requests were in flight at the server on average"
    due = tally.sent + tally.dropped
    if plan.mode.is_open and due:
        if tally.dropped > MOST_LATE * due:
            yield f"{tally.dropped} of {due} due requests were not sent: the bound on concurrency was reached"
        if tally.late > MOST_LATE * due:
            yield f"{tally.late} of {due} requests were sent more than 5 ms after they were due"
    if figures.invalid_ratio is not None and figures.invalid_ratio > MOST_INVALID:
        yield f"{figures.invalid_ratio:.0%} of the values have an error bound that is too wide"


def judge(plan: LoadPlan, steps: Sequence[Step]) -> tuple[Judgement, ...]:
    """Return every finding, in the order of the steps."""
    found: list[Judgement] = []
    before: dict[str, Step] = {}
    for index, step in enumerate(steps):
        previous = before.get(step.side)
        for finding, words in _findings(plan, step, previous):
            found.append(Judgement(index, finding, words))
        if not client_limits(plan, step):
            before[step.side] = step
    return tuple(found)


def _findings(plan: LoadPlan, step: Step, previous: Step | None) -> Iterator[tuple[Finding, str]]:
    tally, figures = step.tally, figures_of(step.tally)
    name = level_name(plan, step.level)
    limits = client_limits(plan, step)
    for why in limits:
        yield Finding.CLIENT_LIMITED, f"at {name} the client was the limit: {why}"
    if not tally.ended:
        return
    yield from _failures(name, tally, figures)
    if not limits:
        yield from _flat(plan, name, step, previous)
        yield from _tail(name, figures)
    if 0 < tally.succeeded < 100:
        yield Finding.FEW_SAMPLES, f"at {name} the P99 is the maximum of {tally.succeeded} requests"


def _failures(name: str, tally: Tally, figures: Figures) -> Iterator[tuple[Finding, str]]:
    limited, timeouts = tally.count(Outcome.RATE_LIMITED), tally.count(*_TIMEOUTS)
    if limited:
        share = limited / tally.ended
        yield (
            Finding.RATE_LIMITED,
            f"at {name} {limited} of {tally.ended} requests ({share:.1%}) got status 429",
        )
    if timeouts:
        share = timeouts / tally.ended
        words = f"at {name} {timeouts} of {tally.ended} requests ({share:.1%}) ran into the timeout"
        yield Finding.TIMING_OUT, f"{words}; is it shorter than what the server needs at this load?"
    others = tally.failed - limited - timeouts
    ratio = figures.success_ratio
    if others and ratio is not None:
        told = {Outcome.OK, Outcome.RATE_LIMITED, *_TIMEOUTS}
        classes = ", ".join(f"{e.outcome} {e.count}" for e in tally.outcomes if e.outcome not in told)
        look = "; below 95 %, investigate before reading on" if ratio < INVESTIGATE_BELOW else ""
        yield Finding.FAILING, f"at {name} {ratio:.1%} of {tally.ended} requests succeeded ({classes}){look}"


def _flat(plan: LoadPlan, name: str, step: Step, previous: Step | None) -> Iterator[tuple[Finding, str]]:
    if previous is None or step.level < LEAST_GROWTH * previous.level:
        return
    now, before = figures_of(step.tally).success_qps, figures_of(previous.tally).success_qps
    if not now or not before or now > before * (1 + FLAT_GAIN):
        return
    words = (
        f"{now:.1f} successful requests/s at {name} after {before:.1f} at {level_name(plan, previous.level)}"
    )
    yield Finding.SATURATED, f"saturated: {words}; more load only adds latency"


def _tail(name: str, figures: Figures) -> Iterator[tuple[Finding, str]]:
    for clock in ("ttft", "e2e"):
        spread = figures.clocks[clock]
        p50, p95 = spread.success_only["p50"], spread.success_only["p95"]
        if spread.n >= 20 and p50 and p95 and p95 > TAIL_RATIO * p50:
            low, high = p50 * _MILLI, p95 * _MILLI
            words = f"{clock.upper()} P95 {high:.1f} ms is {p95 / p50:.1f} times P50 {low:.1f} ms"
            yield Finding.QUEUEING, f"at {name} {words}: queueing or uneven scheduling"
