"""What a probe's result does to the metrics, and how they stand before the first one."""

from collections.abc import Iterator

from exporter.metrics.catalogue import probe as family
from exporter.metrics.catalogue import sla
from exporter.metrics.catalogue.schedule import MISSED
from exporter.metrics.family import Sample
from exporter.model.clocks import Clock, Measured, Phases, Timing, Tokens, TokensFrom
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import Identity, Objective, ProbeSpec, Target
from exporter.model.transcript import StampSource

_Who = tuple[str, str, str]


def initial(target: Target, spec: ProbeSpec) -> Iterator[Sample]:
    """Yield how the series of a configured probe stand before its first result.

    Every counter that it can ever touch is born at 0, so that its first increase is seen as one.  Safe to
    apply again after a reload: counters and histograms go on from where they are.
    """
    who = Identity(target.name, target.model, spec.name).labels
    yield Sample(family.PROBE_INFO, (*who, spec.kind, spec.connection), 1)
    yield Sample(family.INTERVAL, who, spec.every_s)
    yield Sample(family.TIMEOUT, who, spec.timeout_s)
    yield Sample(family.PROBES, who, None)
    for counter, label in (
        (family.FAILED, "reason"),
        (MISSED, "cause"),
        (family.TOKENS, "kind"),
        (family.CONNECTIONS, "kind"),
    ):
        for value in counter.values_of(label):
            yield Sample(counter, (*who, value), None)
    for clock in Clock:
        if clock in spec.clocks:
            yield Sample(family.HISTOGRAM_OF[clock], who, None)
            yield Sample(family.INVALID, (*who, clock), None)
    for objective in spec.objectives:
        yield from _promised(who, objective)
        if spec.confirm is not None:
            for counter in (sla.CONFIRMATIONS, sla.CONFIRMATION_BREACHES, sla.CONFIRMATION_RUNS):
                yield Sample(counter, (*who, objective.sli), None)


def _promised(who: _Who, objective: Objective) -> Iterator[Sample]:
    series = (*who, objective.sli)
    yield Sample(sla.OBJECTIVE, series, objective.ratio)
    yield Sample(sla.SEVERITY_INFO, (*series, objective.severity), 1)
    if objective.threshold_s is not None:
        yield Sample(sla.THRESHOLD, series, objective.threshold_s)
    for counter in (sla.REQUESTS, sla.BREACHES, sla.BREACH_RUNS, sla.UNDECIDED):
        yield Sample(counter, series, None)


def of(result: ProbeResult) -> Iterator[Sample]:
    """Yield what one result changes.

    A request that says nothing about the target (cancelled, over budget, not driven in time) is a miss, not
    an attempt; what it spent and what its connection showed is counted all the same.
    """
    who = result.identity.labels
    if result.outcome.counts_for_sla:
        yield from _verdict(who, result)
    else:
        yield Sample(MISSED, (*who, result.outcome), 1)
    yield from _tokens(who, result.tokens)
    yield from _connection(who, result)


def of_confirmation(result: ProbeResult) -> Iterator[Sample]:
    """Yield what a confirmation changes beside the ledger: what it spent."""
    yield from _tokens(result.identity.labels, result.tokens)


def _verdict(who: _Who, result: ProbeResult) -> Iterator[Sample]:
    is_ok = result.outcome is Outcome.OK
    yield Sample(family.PROBES, who, 1)
    yield Sample(family.SUCCESS, who, float(is_ok))
    yield Sample(family.LAST, who, result.finished_unix_s)
    yield from _phases(who, result.phases)
    if is_ok:
        yield Sample(family.LAST_SUCCESS, who, result.finished_unix_s)
        yield from _clocks(who, result.timing)
    else:
        yield Sample(family.FAILED, (*who, result.outcome), 1)


def _clocks(who: _Who, timing: Timing) -> Iterator[Sample]:
    for clock, measured in (
        (Clock.TTFT, timing.ttft),
        (Clock.TTFC, timing.ttfc),
        (Clock.TPOT, timing.tpot),
        (Clock.E2E, timing.e2e),
    ):
        if measured is not None:
            yield _observed(who, clock, measured)
    for gap in timing.gaps:
        yield _observed(who, Clock.ITL, gap)


def _observed(who: _Who, clock: Clock, measured: Measured) -> Sample:
    if measured.is_valid:
        return Sample(family.HISTOGRAM_OF[clock], who, measured.value_s)
    return Sample(family.INVALID, (*who, clock), 1)


def _phases(who: _Who, phases: Phases | None) -> Iterator[Sample]:
    for phase in family.PHASES:
        # None takes the series away: the last probe had no such phase, and an older one's would pass for its.
        seconds = None if phases is None else getattr(phases, f"{phase}_s")
        yield Sample(family.PHASE, (*who, phase), seconds)


def _tokens(who: _Who, tokens: Tokens) -> Iterator[Sample]:
    for kind in family.TOKEN_KINDS:
        count = getattr(tokens, kind)
        if count is not None:
            yield Sample(family.TOKENS, (*who, kind), count)
    if tokens.output_from is not None:
        yield Sample(family.TOKENS_FROM_USAGE, who, float(tokens.output_from is TokensFrom.USAGE))


def _connection(who: _Who, result: ProbeResult) -> Iterator[Sample]:
    if result.reused is not None:
        yield Sample(family.CONNECTIONS, (*who, "reused" if result.reused else "new"), 1)
    if result.certificate_expiry_unix_s is not None:
        yield Sample(family.CERTIFICATE, who, result.certificate_expiry_unix_s)
    if result.stamps is not None:
        yield Sample(family.KERNEL_STAMPS, who, float(result.stamps is StampSource.KERNEL))
    for lateness_s in result.lateness_s:
        yield Sample(family.LATENESS, (), lateness_s)
