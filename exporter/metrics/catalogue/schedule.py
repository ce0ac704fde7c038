"""Families about when work ran, and when it did not."""

from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Family, Type
from exporter.model.job import JobKind
from exporter.model.outcome import Outcome
from exporter.model.schedule import MissCause

CAUSES = (*map(str, MissCause), *(str(o) for o in Outcome if not o.counts_for_sla))
CRASH_ENDINGS = ("crashed", "overdue", "abandoned")

MISSED = Family(
    name="inference_probes_missed_total",
    type=Type.COUNTER,
    labels=(*WHO, "cause"),
    closed=(("cause", CAUSES),),
    help="Slots of the schedule that gave no measurement, by cause. Slots = inference_probes_total + this.",
)
LAG = Family(
    name="inference_probe_schedule_lag_seconds",
    type=Type.HISTOGRAM,
    unit="seconds",
    buckets=(0.0003, 0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.3, 1, 3, 10),
    help="Start of a probe - its slot, over all probes. Latencies count from the start, not from the slot.",
)
CRASHES = Family(
    name="inference_exporter_job_crashes_total",
    type=Type.COUNTER,
    labels=("kind", "ending"),
    closed=(("kind", tuple(str(k) for k in JobKind)), ("ending", CRASH_ENDINGS)),
    help="Runs that ended as no run should, a defect of the exporter; the log says where.",
)

SCHEDULE: tuple[Family, ...] = (MISSED, LAG, CRASHES)
