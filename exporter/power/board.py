"""Everything that is known about the local devices' power."""

from exporter.model.energy import advance
from exporter.model.power import Fault, Scope, Snapshot, Source, ZoneReading
from exporter.model.power_view import GpuView, SourceView, ZoneView
from exporter.power.gpu_record import GpuRecord
from exporter.power.health import HealthRecord

MAX_GPUS = 256
"""More series than any machine has GPUs; UUIDs come from a driver, not from the configuration."""


class _ZoneRecord:
    def __init__(self) -> None:
        self.reading: ZoneReading | None = None
        self.total_j: float | None = None
        self._raw_j: float | None = None

    def take(self, reading: ZoneReading) -> None:
        self.reading = reading
        if reading.energy_j is None:
            return
        went_j = 0.0 if self._raw_j is None else advance(self._raw_j, reading.energy_j, reading.wrap_j)
        self.total_j = (self.total_j or 0.0) + went_j
        self._raw_j = reading.energy_j


class Board:
    """Takes snapshots; forgets no device, and shows no value that is not current."""

    def __init__(self) -> None:
        self._sources: dict[Source, HealthRecord] = {}
        self._gpus: dict[str, GpuRecord] = {}
        self._zones: dict[tuple[Source, str], _ZoneRecord] = {}

    def take(self, snapshot: Snapshot) -> None:
        """Take a snapshot in; a known device that is not in it is lost."""
        for state in snapshot.sources:
            self._sources.setdefault(state.source, HealthRecord()).is_now(state.fault)
        present = set()
        for reading in snapshot.gpus:
            if reading.uuid not in self._gpus and len(self._gpus) >= MAX_GPUS:
                continue
            present.add(reading.uuid)
            self._gpus.setdefault(reading.uuid, GpuRecord(reading.uuid)).take(reading)
        for uuid in self._gpus.keys() - present:
            self._gpus[uuid].silence(Fault.LOST)
        for xid in snapshot.xids:
            if xid.uuid in self._gpus:
                self._gpus[xid.uuid].event(xid)
        for record in self._zones.values():
            record.reading = None
        for zone in snapshot.zones:
            self._zones.setdefault((zone.source, zone.zone), _ZoneRecord()).take(zone)

    def silence(self) -> None:
        """Take note that nothing is known any more: the sampling process does not speak."""
        for source in self._sources.values():
            source.is_now(Fault.WORKER)
        for gpu in self._gpus.values():
            gpu.silence(Fault.WORKER)
        for zone in self._zones.values():
            zone.reading = None

    def gpu(self, uuid: str) -> GpuRecord | None:
        """Return what is known of a GPU; None for one that was never seen."""
        return self._gpus.get(uuid)

    @property
    def packages(self) -> tuple[str, ...]:
        """Names of the CPU packages that can be read now."""
        return tuple(
            name
            for (_, name), zone in self._zones.items()
            if zone.reading is not None and zone.reading.scope is Scope.CPU_PACKAGE
        )

    def zone(self, name: str) -> ZoneReading | None:
        """Return the current reading of a zone, if there is one."""
        return next((z.reading for (_, each), z in self._zones.items() if each == name), None)

    @property
    def sources(self) -> tuple[SourceView, ...]:
        """Every source that the worker has, as the metrics show it."""
        return tuple(SourceView(source=name, health=each.view) for name, each in self._sources.items())

    @property
    def gpus(self) -> tuple[GpuView, ...]:
        """Every GPU ever seen, as the metrics show it."""
        return tuple(gpu.view for gpu in self._gpus.values())

    @property
    def zones(self) -> tuple[ZoneView, ...]:
        """Every zone that can be read now, as the metrics show it."""
        return tuple(
            ZoneView(
                source=zone.reading.source,
                zone=zone.reading.zone,
                scope=zone.reading.scope,
                power_w=zone.reading.power_w,
                energy_j=None if zone.reading.energy_j is None else zone.total_j,
            )
            for zone in self._zones.values()
            if zone.reading is not None
        )
