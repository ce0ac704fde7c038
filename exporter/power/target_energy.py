"""The power and the energy of what serves each target, held against the work that it does."""

from collections import deque
from collections.abc import Iterable

from exporter.model.efficiency import Efficiency
from exporter.model.energy import advance
from exporter.model.power_plan import Electricity, Gpus, PowerFrom, Promql, Watts
from exporter.model.power_view import TargetView, Work
from exporter.model.target import Target
from exporter.power.board import Board
from exporter.power.remote import Remote

WINDOW_S = 300.0
"""Over which the probes' tokens are held against energy; at 15 s a probe that is 20 requests."""
MIN_WINDOW_S = 60.0
MARK_S = 10.0
MAX_STEP_S = 5.0
"""Longer between two readings of a power, nobody knows what it was."""


class TargetEnergy:
    """One target's account."""

    def __init__(self, target: Target, source: PowerFrom) -> None:
        self.target = target
        self.source = source
        self._watts: float | None = None
        self._energy_j = 0.0
        self._counters: dict[str, float] = {}
        self._at_s: float | None = None
        self._tokens = self._requests = 0.0
        self._marks: deque[tuple[float, float, float, float]] = deque()
        self._load: Efficiency | None = None

    def worked(self, tokens: float, requests: float) -> None:
        """Count work that the target did for us."""
        self._tokens += tokens
        self._requests += requests

    def loaded(self, efficiency: Efficiency) -> None:
        """Take the result of a load run, which had the target to itself."""
        self._load = efficiency

    def tick(self, now_s: float, board: Board, remote: Remote) -> None:
        """Account for the time since the last tick."""
        before_s, self._at_s = self._at_s, now_s
        step_s = 0.0 if before_s is None else now_s - before_s
        match self.source:
            case Gpus(uuids=uuids):
                self._watts = self._of_gpus(uuids, board, step_s)
            case Watts(watts=watts):
                self._watts = watts
                self._energy_j += watts * step_s
            case Promql(query=query):
                self._watts = remote.watts(query)
                if self._watts is not None and step_s <= MAX_STEP_S:
                    self._energy_j += self._watts * step_s
            case _:
                self._watts = None
        if self._watts is None:
            # What was served meanwhile has no energy to be held against.
            self._marks.clear()
        elif not self._marks or now_s - self._marks[-1][0] >= MARK_S:
            self._marks.append((now_s, self._energy_j, self._tokens, self._requests))
            while now_s - self._marks[0][0] > WINDOW_S:
                self._marks.popleft()

    def view(self, electricity: Electricity | None) -> TargetView:
        """Return how the metrics show it."""
        found = [(Work.PROBES, self._of_probes()), (Work.LOAD, self._load)]
        return TargetView(
            target=self.target.name,
            model=self.target.model,
            watts=self._watts,
            energy_j=self._energy_j,
            efficiencies=tuple((work, each) for work, each in found if each is not None),
            cost_per_kwh=None if electricity is None else (electricity.per_kwh, electricity.currency),
        )

    def _of_gpus(self, uuids: Iterable[str], board: Board, step_s: float) -> float | None:
        """Add the energy of each GPU, and return their power, None while one of them cannot be read."""
        total: float | None = 0.0
        for uuid in uuids:
            record = board.gpu(uuid)
            reading = None if record is None else record.reading
            if reading is None:
                total = None
                continue
            watts = reading.average_power_w if reading.power_w is None else reading.power_w
            if reading.energy_j is not None:
                before_j = self._counters.get(uuid, reading.energy_j)
                self._energy_j += advance(before_j, reading.energy_j, None)
                self._counters[uuid] = reading.energy_j
            elif watts is not None and step_s <= MAX_STEP_S:
                self._energy_j += watts * step_s
            total = None if watts is None or total is None else total + watts
        return total

    def _of_probes(self) -> Efficiency | None:
        if not self._marks or self._marks[-1][0] - self._marks[0][0] < MIN_WINDOW_S:
            return None
        (begin_s, begin_j, begin_tokens, begin_requests), *_, end = self._marks
        return Efficiency(
            joules=end[1] - begin_j,
            seconds=end[0] - begin_s,
            tokens=end[2] - begin_tokens,
            requests=end[3] - begin_requests,
        )
