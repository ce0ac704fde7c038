"""An observer that keeps what it is told."""

from collections import Counter

from exporter.model.schedule import MissCause
from exporter.scheduler.job import Ending, Job


class Recorder:
    def __init__(self) -> None:
        self.lags: dict[str, list[float]] = {}
        self.missed: Counter[tuple[str, MissCause]] = Counter()
        self.ended: Counter[tuple[str, Ending]] = Counter()
        self.loop_lags: list[float] = []
        self.steps: list[float] = []

    def on_lag(self, job: Job, lag_s: float) -> None:
        self.lags.setdefault(job.name, []).append(lag_s)

    def on_missed(self, job: Job, cause: MissCause, slots: int) -> None:
        self.missed[job.name, cause] += slots

    def on_ended(self, job: Job, ending: Ending) -> None:
        self.ended[job.name, ending] += 1

    def on_loop_lag(self, lag_s: float) -> None:
        self.loop_lags.append(lag_s)

    def on_clock_step(self, step_s: float) -> None:
        self.steps.append(step_s)

    def runs(self, name: str) -> int:
        return len(self.lags.get(name, []))

    def accounted(self, name: str) -> int:
        return self.runs(name) + sum(n for (job, _), n in self.missed.items() if job == name)
