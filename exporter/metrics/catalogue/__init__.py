"""Every metric family there is, in the order of the documentation: a total stands before its parts."""

from exporter.metrics.catalogue.gpu import GPU
from exporter.metrics.catalogue.kernel import KERNEL
from exporter.metrics.catalogue.load import LOAD
from exporter.metrics.catalogue.power import POWER
from exporter.metrics.catalogue.probe import PROBE
from exporter.metrics.catalogue.process import PROCESS
from exporter.metrics.catalogue.schedule import SCHEDULE
from exporter.metrics.catalogue.server import SERVER
from exporter.metrics.catalogue.service import SERVICE
from exporter.metrics.catalogue.sla import SLA
from exporter.metrics.family import Family, Group

OWN: tuple[Group, ...] = (
    Group("Probes", "What one request at a time sees of a target.", PROBE),
    Group("SLA", "Every request held against every objective of its probe; alerts read these.", SLA),
    Group("Servers", "What the server says of itself, and what asking it costs.", SERVER),
    Group("Schedule", "Whether the measurements happened when they should have.", SCHEDULE),
    Group(
        "Load tests", "Many requests at a time, on a schedule, never mixed with the probes' figures.", LOAD
    ),
    Group("Kernel benches", "Attention kernels on the local devices, in a child process.", KERNEL),
    Group("Power", "Sources of power readings, CPU packages and sensors, energy against tokens.", POWER),
    Group("GPUs", "Local GPUs, read in a child process; what cannot be read is absent.", GPU),
    Group("Exporter", "The exporter itself.", SERVICE),
)
GROUPS: tuple[Group, ...] = (
    *OWN,
    Group("Process", "Added by the Prometheus client library where the host has a /proc.", PROCESS),
)

ALL: tuple[Family, ...] = tuple(family for group in OWN for family in group.families)
"""The families that this exporter fills in itself: what a sink is built from."""
