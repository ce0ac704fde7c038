"""What is remembered of one GPU beyond its last reading."""

from exporter.model.energy import integrate
from exporter.model.power import Fault, GpuReading, Xid
from exporter.model.power_view import GpuView
from exporter.power.health import HealthRecord

IDLE_S = 10.0
"""Shortest stretch without use whose mean power counts as idle; boards take seconds to come down."""
CROSS_CHECK_S = 60.0
"""A minute of 1 s polls, so that the counter's tick is 0.2 % of it."""
MAX_CODES = 64


class GpuRecord:
    """One GPU since the service first saw it."""

    def __init__(self, uuid: str) -> None:
        self._uuid = uuid
        self._health = HealthRecord()
        self._reading: GpuReading | None = None
        self._xids = 0
        self._last_xids: dict[int, float] = {}
        self._idle_w: float | None = None
        self._disagreement: float | None = None
        self._stretch: list[GpuReading] = []
        self._idle_since: GpuReading | None = None

    @property
    def reading(self) -> GpuReading | None:
        """The last reading, if the GPU gives values now."""
        return self._reading

    @property
    def idle_w(self) -> float | None:
        """Mean power over the last stretch without use; None until there was one, and while it is gone."""
        return None if self._reading is None else self._idle_w

    @property
    def view(self) -> GpuView:
        """How the metrics show it."""
        reading = self._reading
        return GpuView(
            uuid=self._uuid,
            health=self._health.view,
            reading=reading,
            xids=self._xids if reading is not None and reading.watches_xid else None,
            last_xids=tuple(self._last_xids.items()),
            idle_w=self.idle_w,
            disagreement=None if reading is None else self._disagreement,
        )

    def take(self, reading: GpuReading) -> None:
        """Take the next look at it."""
        if reading.fault is not None:
            self.silence(reading.fault)
            return
        self._health.is_now(None)
        self._reading = reading
        self._compare(reading)
        self._watch_idle(reading)

    def silence(self, fault: Fault) -> None:
        """Take note that it gives no values."""
        self._health.is_now(fault)
        self._reading = None
        self._stretch = []
        self._idle_since = None

    def event(self, xid: Xid) -> None:
        """Count an error event."""
        self._xids += 1
        if xid.code in self._last_xids or len(self._last_xids) < MAX_CODES:
            self._last_xids[xid.code] = xid.unix_s

    def _compare(self, reading: GpuReading) -> None:
        """Hold the energy counter against the polled power, a minute at a time."""
        if reading.energy_j is None or reading.comparable_power_w is None:
            self._stretch, self._disagreement = [], None
            return
        if self._stretch and reading.energy_j < (self._stretch[-1].energy_j or 0.0):
            self._stretch = []
        self._stretch.append(reading)
        first = self._stretch[0]
        if reading.at_s - first.at_s < CROSS_CHECK_S:
            return
        points = [(each.at_s, each.power_w or 0.0) for each in self._stretch]
        polled_j = integrate(points, first.at_s, reading.at_s)
        if polled_j:
            self._disagreement = (reading.energy_j - (first.energy_j or 0.0)) / polled_j - 1
        self._stretch = [reading]

    def _watch_idle(self, reading: GpuReading) -> None:
        since = self._idle_since
        if reading.utilization != 0.0 or reading.energy_j is None:
            self._idle_since = None
        elif since is None or since.energy_j is None or reading.energy_j < since.energy_j:
            self._idle_since = reading
        elif reading.at_s - since.at_s >= IDLE_S:
            self._idle_w = (reading.energy_j - since.energy_j) / (reading.at_s - since.at_s)
            self._idle_since = reading
