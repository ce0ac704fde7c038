"""What the schedule and the service itself do to the metrics."""

from collections.abc import Iterator

from exporter.metrics.catalogue import schedule, service
from exporter.metrics.catalogue.probe import LATENESS
from exporter.metrics.family import Sample
from exporter.model.job import JobKind
from exporter.model.schedule import MissCause
from exporter.model.target import Identity


def started(version: str, revision: str, python_version: str, unix_s: float) -> Iterator[Sample]:
    """Yield how the service's own series stand when it starts; ``revision`` "" means unknown."""
    yield Sample(service.BUILD_INFO, (version, revision, python_version), 1)
    yield Sample(service.START_TIME, (), unix_s)
    yield Sample(service.CLOCK_STEPS, (), None)
    for kind in JobKind:
        for ending in schedule.CRASH_ENDINGS:
            yield Sample(schedule.CRASHES, (kind, ending), None)
    for histogram in (LATENESS, schedule.LAG, service.LOOP_LAG):
        yield Sample(histogram, (), None)


def reloaded(unix_s: float) -> Iterator[Sample]:
    """Yield what an accepted configuration changes."""
    yield Sample(service.RELOAD_SUCCESSFUL, (), 1)
    yield Sample(service.RELOAD_TIMESTAMP, (), unix_s)


def reload_refused() -> Iterator[Sample]:
    """Yield what a refused configuration changes."""
    yield Sample(service.RELOAD_SUCCESSFUL, (), 0)


def missed(identity: Identity, cause: MissCause, slots: int) -> Iterator[Sample]:
    """Yield what ``slots`` >= 1 slots without a run change."""
    yield Sample(schedule.MISSED, (*identity.labels, cause), slots)


def probe_started(lag_s: float) -> Iterator[Sample]:
    """Yield what the start of a probe changes; ``lag_s`` is seconds after its slot, at least 0."""
    yield Sample(schedule.LAG, (), lag_s)


def ended(kind: JobKind, ending: str) -> Iterator[Sample]:
    """Yield what the end of a job's run changes: nothing, unless it ended as no run should."""
    if ending in schedule.CRASH_ENDINGS:
        yield Sample(schedule.CRASHES, (kind, ending), 1)


def loop_lagged(lag_s: float) -> Iterator[Sample]:
    """Yield what one late (or punctual) timer of the event loop changes; ``lag_s`` in seconds, at least 0."""
    yield Sample(service.LOOP_LAG, (), lag_s)


def clock_stepped() -> Iterator[Sample]:
    """Yield what a step of the wall clock changes."""
    yield Sample(service.CLOCK_STEPS, (), 1)


def target_files(refused: int) -> Iterator[Sample]:
    """Yield how the target files stand; ``refused`` counts the problems."""
    yield Sample(service.TARGET_FILES_REFUSED, (), refused)


def state_file(*, usable: bool) -> Iterator[Sample]:
    """Yield whether the state file could be used."""
    yield Sample(service.STATE_USABLE, (), float(usable))
