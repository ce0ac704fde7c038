"""What a step has measured so far: counters and histograms of fixed size, no list of requests."""

from collections.abc import Sequence

from exporter.adapters.wire.errand import Errand
from exporter.model.clocks import INVALID_BOUND_RATIO, INVALID_BOUND_S, Clock
from exporter.model.load_answer import Seen
from exporter.model.load_histogram import Recorder
from exporter.model.load_plan import Within
from exporter.model.load_protocol import Progress
from exporter.model.load_result import Ended, Tally
from exporter.model.outcome import Outcome

_BOUND_NS = int(INVALID_BOUND_S * 1e9)
_RATIO = round(1 / INVALID_BOUND_RATIO)
_LATE_NS = 5_000_000
_CLOCKS = ("ttft", "tpot", "itl", "e2e", "ttft_scheduled", "e2e_scheduled", "lateness", "dispatch")


class StepMeter:
    """Takes every request of a step; ``window`` begins when the settle time is over."""

    def __init__(self, good: Sequence[Within], *, is_open: bool) -> None:
        self._good = [(within.clock, round(within.threshold_s * 1e9)) for within in good]
        self._is_open = is_open
        self._recorders = {name: Recorder() for name in _CLOCKS}
        self._outcomes = dict.fromkeys(Outcome, 0)
        self.sent = self.settle_requests = self.late = self.dropped = self.connections = 0
        self.good = self.input_tokens = self.output_tokens = self.from_usage = 0
        self.invalid = self.values = self.user_stamps = 0
        self.in_flight_ns = 0
        self.first_sent_ns: int | None = None
        self.last_over_ns = 0

    def note(self, seen: Seen, errand: Errand, over_ns: int) -> None:
        """Count one request that was sent after the settle time and is over."""
        self._outcomes[seen.outcome] += 1
        self.last_over_ns = max(self.last_over_ns, over_ns)
        self.input_tokens += seen.input_tokens
        self.output_tokens += seen.output_tokens
        self.user_stamps += not errand.stamped
        record = self._recorders
        if errand.stamped:
            record["lateness"].add(errand.late_ns)
        dispatch_ns = (errand.sent_ns or errand.started_ns) - errand.due_ns
        if self._is_open:
            record["dispatch"].add(dispatch_ns)
            self.late += dispatch_ns > _LATE_NS
        if seen.outcome is not Outcome.OK:
            return
        self.from_usage += seen.from_usage
        for name, clock in (("ttft", seen.ttft), ("tpot", seen.tpot), ("e2e", seen.e2e)):
            if clock is None:
                continue
            value_ns, bound_ns = clock
            if name != "tpot":
                bound_ns = max(bound_ns, errand.sending_ns)
            self.values += 1
            if bound_ns > _BOUND_NS and bound_ns * _RATIO > value_ns:
                self.invalid += 1
                continue
            record[name].add(value_ns)
            if self._is_open and name != "tpot":
                record[f"{name}_scheduled"].add(value_ns + dispatch_ns)
        self._gaps(seen.gaps)
        self.good += self._is_good(seen)

    def _gaps(self, gaps: Sequence[tuple[int, int]]) -> None:
        if not gaps:
            return
        valid = [v for v, bound in gaps if bound <= _BOUND_NS or bound * _RATIO <= v]
        self.values += len(gaps)
        self.invalid += len(gaps) - len(valid)
        self._recorders["itl"].add_all(valid)

    def _is_good(self, seen: Seen) -> bool:
        for clock, most_ns in self._good:
            if clock is Clock.ITL:
                if any(value_ns > most_ns for value_ns, _ in seen.gaps):
                    return False
                continue
            value = {Clock.TPOT: seen.tpot, Clock.E2E: seen.e2e}.get(clock, seen.ttft)
            if value is not None and value[0] > most_ns:
                return False
        return True

    def progress(self, in_flight: int, tokens: int) -> Progress:
        """Return how far the step is."""
        ttft, e2e = self._recorders["ttft"].take(), self._recorders["e2e"].take()
        ended = sum(self._outcomes.values())
        return Progress(
            sent=self.sent + self.settle_requests,
            ended=ended,
            failed=ended - self._outcomes[Outcome.OK],
            in_flight=in_flight,
            tokens=tokens,
            ttft_p50_s=ttft.percentile_s(0.5),
            ttft_p99_s=ttft.percentile_s(0.99),
            e2e_p50_s=e2e.percentile_s(0.5),
            e2e_p99_s=e2e.percentile_s(0.99),
        )

    def take(self, *, sending_over_ns: int, cpu_s: float) -> Tally:
        """Return everything; ``cpu_s`` is the CPU time since the settle time."""
        first_ns = self.first_sent_ns if self.first_sent_ns is not None else sending_over_ns
        return Tally(
            sent=self.sent,
            outcomes=tuple(Ended(outcome, count) for outcome, count in self._outcomes.items() if count),
            good=self.good,
            settle_requests=self.settle_requests,
            late=self.late,
            dropped=self.dropped,
            wall_s=max(0, self.last_over_ns - first_ns) / 1e9,
            sending_s=max(0, sending_over_ns - first_ns) / 1e9,
            in_flight_s=self.in_flight_ns / 1e9,
            cpu_s=cpu_s,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            tokens_from_usage=self.from_usage,
            connections=self.connections,
            invalid=self.invalid,
            values=self.values,
            user_stamps=self.user_stamps,
            **{name: recorder.take() for name, recorder in self._recorders.items()},
        )
