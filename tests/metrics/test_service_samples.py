"""What the schedule and the service do to the metrics."""

import pytest

from exporter.metrics import service_samples as service
from exporter.metrics.catalogue.schedule import CRASHES, LAG, MISSED
from exporter.metrics.catalogue.service import CLOCK_STEPS, LOOP_LAG, RELOAD_SUCCESSFUL, RELOAD_TIMESTAMP
from exporter.metrics.family import Sample, Type
from exporter.model.job import JobKind
from exporter.model.schedule import MissCause
from exporter.model.target import Identity


def test_counters_of_the_service_are_born_at_0():
    samples = list(service.started("1.2.3", "", "3.11.9", 5.0))
    assert {s.value for s in samples if s.family.type is not Type.GAUGE} == {None}
    born = {(s.family.name, s.labels) for s in samples}
    later = [
        *service.probe_started(0.1),
        *service.loop_lagged(0.1),
        *service.clock_stepped(),
        *(s for kind in JobKind for s in service.ended(kind, "overdue")),
    ]
    assert {(s.family.name, s.labels) for s in later} <= born


def test_a_refused_reload_keeps_the_time_of_the_last_good_one():
    assert list(service.reloaded(7.0)) == [
        Sample(RELOAD_SUCCESSFUL, (), 1),
        Sample(RELOAD_TIMESTAMP, (), 7.0),
    ]
    assert list(service.reload_refused()) == [Sample(RELOAD_SUCCESSFUL, (), 0)]


def test_slots_without_a_run_are_counted_by_cause():
    samples = list(service.missed(Identity("prod", "llama", "short"), MissCause.LATE, 3))
    assert samples == [Sample(MISSED, ("prod", "llama", "short", "late"), 3)]


@pytest.mark.parametrize("ending", ["finished", "cancelled"])
def test_a_run_that_ended_as_it_should_is_no_crash(ending):
    assert list(service.ended(JobKind.BENCH, ending)) == []


def test_crashes_lags_and_clock_steps():
    assert list(service.ended(JobKind.BENCH, "crashed")) == [Sample(CRASHES, ("bench", "crashed"), 1)]
    assert list(service.probe_started(0.2)) == [Sample(LAG, (), 0.2)]
    assert list(service.loop_lagged(0.3)) == [Sample(LOOP_LAG, (), 0.3)]
    assert list(service.clock_stepped()) == [Sample(CLOCK_STEPS, (), 1)]
