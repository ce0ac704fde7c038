"""One step of a load run in one worker: sends, receives, and counts until a bound is reached."""

import random
import time
from collections.abc import Callable, Iterator

from exporter.adapters.wire.errand import Errand
from exporter.adapters.wire.lane import Lane
from exporter.adapters.wire.poller import Poller
from exporter.model.load_answer import Seen, read_exactly, read_plain_stream
from exporter.model.load_arrivals import arrivals
from exporter.model.load_breaker import BreakerState
from exporter.model.load_plan import Mode
from exporter.model.load_protocol import Progress, Setup, StepDone, StepOrder
from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault
from exporter.workers.load_worker_meter import StepMeter
from exporter.workers.load_worker_requests import Requests

_CHECK_NS = 20_000_000
_PROGRESS_NS = 250_000_000
_IDLE_S = 0.02


class StepRun:
    """Runs one step; the owner of its lanes."""

    def __init__(
        self,
        setup: Setup,
        order: StepOrder,
        requests: Requests,
        *,
        poller: Poller,
        new_lane: Callable[["StepRun"], Lane],
        say: Callable[[Progress], None],
    ) -> None:
        self._setup = setup
        self._order = order
        self._requests = requests
        self._poller = poller
        self._new_lane = new_lane
        self._say = say
        self._meter = StepMeter(setup.good, is_open=order.mode.is_open)
        self._breaker = BreakerState(order.breaker)
        self._lanes: list[Lane] = []
        self._idle: list[Lane] = []
        self._finished: list[Errand] = []
        self._busy = self._number = self._reserved = self._spent = 0
        self._underestimate = 1.0
        """The largest ratio so far of input tokens that the server counted to those we had estimated."""
        self._sending = True
        self._sending_over_ns = 0
        self._why = ""
        self._start_ns = self._settled_ns = self._checked_ns = self._said_ns = 0
        self._cpu_s = 0.0

    def stop(self, why: str) -> None:
        """Send nothing more and give up what is in flight; it counts as cancelled."""
        self._stop_sending(time.monotonic_ns(), why)
        for lane in self._lanes:
            if lane.errand is not None:
                lane.give_up(Fault.CANCELLED, "cancelled")

    def run(self) -> StepDone:
        """Run to the end of the step."""
        order = self._order
        self._start_ns = self._checked_ns = self._said_ns = time.monotonic_ns()
        self._settled_ns = self._start_ns + round(order.settle_s * 1e9)
        due: Iterator[int] | None = None
        if order.mode.is_open:
            due = self._due_times()
        else:
            for _ in range(order.clients):
                lane = self._new_lane(self)
                self._lanes.append(lane)
                self._next(lane)
        self._loop(due)
        for lane in self._lanes:
            lane.close()
        over_ns = self._sending_over_ns or time.monotonic_ns()
        tally = self._meter.take(sending_over_ns=over_ns, cpu_s=max(0.0, time.process_time() - self._cpu_s))
        return StepDone(tally=tally, tokens=self._spent, stopped=self._why)

    def finished(self, lane: Lane, errand: Errand) -> None:
        """Take an errand that is over, and give its lane the next before looking at it."""
        self._busy -= 1
        self._finished.append(errand)
        if self._order.mode.is_open:
            self._idle.append(lane)
        else:
            self._next(lane)

    def _loop(self, due: Iterator[int] | None) -> None:
        next_due_ns = None if due is None else next(due, None)
        while self._sending or self._busy or self._finished:
            now_ns = time.monotonic_ns()
            if now_ns - self._checked_ns > _CHECK_NS:
                self._check(now_ns)
            while due is not None and next_due_ns is not None and self._sending and now_ns >= next_due_ns:
                self._arrive(next_due_ns, now_ns)
                next_due_ns = next(due, None)
                now_ns = time.monotonic_ns()
            if due is not None and next_due_ns is None:
                self._stop_sending(now_ns, "")
            wait_s = _IDLE_S
            if self._sending and next_due_ns is not None:
                wait_s = min(wait_s, (next_due_ns - now_ns) / 1e9)
            self._poller.turn(0.0 if self._finished else wait_s)
            self._look_at_finished()

    def _due_times(self) -> Iterator[int]:
        order, start_ns = self._order, self._start_ns
        if order.mode is Mode.TRACE:
            return (start_ns + round(line.at_s * 1e9) for line in self._setup.trace)
        rng = random.Random(self._setup.seed)  # noqa: S311 - arrivals, not a secret
        return (start_ns + at_ns for at_ns in arrivals(order.mode, order.rate or 1.0, rng))

    def _arrive(self, due_ns: int, now_ns: int) -> None:
        """Send a request that is due, if a lane can be had for it."""
        if self._idle:
            self._next(self._idle.pop(), due_ns)
        elif len(self._lanes) < self._order.clients:
            lane = self._new_lane(self)
            self._lanes.append(lane)
            self._next(lane, due_ns)
        elif now_ns >= self._settled_ns:
            self._meter.dropped += 1

    def _next(self, lane: Lane, due_ns: int = 0) -> None:
        """Give an idle lane the next request, unless a bound says that there is none."""
        now_ns = time.monotonic_ns()
        if not self._sending:
            return
        prepared = self._requests.take(self._number)
        tokens = round(prepared.input_tokens * self._underestimate) + prepared.output_tokens
        if not self._may_send(now_ns, tokens):
            return
        meter = self._meter
        if now_ns >= self._settled_ns:
            if meter.first_sent_ns is None:
                meter.first_sent_ns = now_ns
                self._cpu_s = time.process_time()
            meter.sent += 1
        else:
            meter.settle_requests += 1
        errand = Errand(prepared.payload, due_ns or now_ns, reserved=tokens, asked=prepared.input_tokens)
        self._number += 1
        self._reserved += tokens
        self._busy += 1
        self._meter.connections += not lane.is_open
        lane.run(errand)

    def _may_send(self, now_ns: int, tokens: int) -> bool:
        """Hold the bounds before sending."""
        order = self._order
        if now_ns - self._start_ns >= order.seconds * 1e9 or self._meter.sent >= order.requests:
            self._stop_sending(now_ns, "")
        elif self._spent + self._reserved + tokens > order.tokens:
            self._stop_sending(now_ns, "the bound on tokens was reached")
        elif self._breaker.why:
            self._stop_sending(now_ns, self._breaker.why)
        return self._sending

    def _stop_sending(self, now_ns: int, why: str) -> None:
        if self._sending:
            self._sending = False
            self._sending_over_ns = now_ns
            self._why = why

    def _check(self, now_ns: int) -> None:
        """Do what has to be done every so often."""
        self._checked_ns = now_ns
        timeout_ns = round(self._setup.timeout_s * 1e9)
        for lane in self._lanes:
            lane.check(now_ns, timeout_ns)
        if self._breaker.why or now_ns - self._start_ns >= self._order.seconds * 1e9:
            self._stop_sending(now_ns, self._breaker.why)
        if now_ns - self._said_ns > _PROGRESS_NS:
            self._said_ns = now_ns
            self._say(self._meter.progress(self._busy, self._spent))

    def _look_at_finished(self) -> None:
        finished, self._finished = self._finished, []
        for errand in finished:
            seen = self._read(errand)
            self._reserved -= errand.reserved
            # An answer that does not say what it used may have used everything it might.
            self._spent += seen.input_tokens + seen.output_tokens if seen.from_usage else errand.reserved
            if seen.input_tokens > self._underestimate * errand.asked:
                self._underestimate = seen.input_tokens / errand.asked
            self._breaker.note(seen.outcome)
            self._count(errand, seen)

    def _count(self, errand: Errand, seen: Seen) -> None:
        meter = self._meter
        sent_ns = errand.sent_ns or errand.started_ns
        arrived_ns = errand.complete_ns or (errand.reads[-1][0] if errand.reads else errand.over_ns)
        if meter.first_sent_ns is not None:
            end_ns = min(arrived_ns, self._sending_over_ns or arrived_ns)
            meter.in_flight_ns += max(0, end_ns - max(sent_ns, meter.first_sent_ns))
        if errand.started_ns >= self._settled_ns and seen.outcome is not Outcome.CANCELLED:
            meter.note(seen, errand, max(arrived_ns, sent_ns))

    def _read(self, errand: Errand) -> Seen:
        if errand.status == 200 and errand.fault is None and self._setup.stream and errand.is_event_stream:
            seen = read_plain_stream(errand.reads, errand.sent_ns)
            if seen is not None:
                return seen
        stall_s = self._setup.timeout_s / 2
        return read_exactly(errand.transcript(), self._setup.api, stream=self._setup.stream, stall_s=stall_s)
