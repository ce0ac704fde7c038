"""One probe with everything around it: budget before, account and history after."""

from collections.abc import Mapping

from exporter.app.budgets import Budgets
from exporter.app.history import History
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes.base import Doors, ProbeKind


class Probing:
    """Runs probes for whoever asks: the schedule or a page."""

    def __init__(
        self, *, kinds: Mapping[str, ProbeKind], doors: Doors, budgets: Budgets, history: History
    ) -> None:
        self._kinds = kinds
        self._doors = doors
        self._budgets = budgets
        self._history = history

    async def run(self, target: Target, spec: ProbeSpec) -> ProbeResult:
        """Send one request if the budget allows it, and return how it went."""
        reserved = self._budgets.admit(target, spec)
        if reserved is None:
            return ProbeResult(
                target=target,
                spec=spec,
                outcome=Outcome.OVER_BUDGET,
                detail="not sent: it could exceed the budget of the day",
                finished_unix_s=self._doors.unix_s(),
            )
        result = None
        try:
            result = await self._kinds[spec.kind].run(target, spec, self._doors)
        finally:
            self._budgets.settle(target, reserved, result)
        self._history.add(result)
        return result
