"""The past of something that can fail and come back."""

from collections import Counter

from exporter.model.power import Fault
from exporter.model.power_view import Health


class HealthRecord:
    """Counts faults when they appear and recoveries when they clear."""

    def __init__(self) -> None:
        self._fault: Fault | None = None
        self._faults: Counter[Fault] = Counter()
        self._recoveries = 0

    def is_now(self, fault: Fault | None) -> None:
        """Record how it is; None is well.  A fault that turns into another one is a new one."""
        if fault is not None and fault is not self._fault:
            self._faults[fault] += 1
        if fault is None and self._fault is not None:
            self._recoveries += 1
        self._fault = fault

    @property
    def view(self) -> Health:
        """How it is, and how it was."""
        return Health(fault=self._fault, faults=tuple(self._faults.items()), recoveries=self._recoveries)
