"""The kernel's wall-clock stamps on the monotonic clock, and the scheduler's account of a wake-up."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.adapters.wire.clock import MAX_AGE_NS, StampClock
from exporter.adapters.wire.wakeups import Reading, WakeupMeter, woken_not_before


class Clocks:
    def __init__(self) -> None:
        self.monotonic = 1_000_000_000
        self.offset = 1_700_000_000_000_000_000

    def wall_ns(self) -> int:
        return self.monotonic + self.offset

    def monotonic_ns(self) -> int:
        return self.monotonic


@given(steps=st.lists(st.tuples(st.integers(0, 10**10), st.integers(-(10**10), 10**10)), max_size=20))
def test_a_stamp_is_never_outside_what_is_possible_however_the_wall_clock_is_stepped(
    steps: list[tuple[int, int]],
) -> None:
    clocks = Clocks()
    clock = StampClock(clocks.wall_ns, clocks.monotonic_ns)
    for pause_ns, step_ns in steps:
        not_before = clocks.monotonic
        stamp = clocks.wall_ns() + pause_ns // 2
        clocks.monotonic += pause_ns
        clocks.offset += step_ns
        at = clock.monotonic_of(stamp, not_before_ns=not_before, read_ns=clocks.monotonic)
        assert at is None or not_before <= at <= clocks.monotonic


def test_a_stepped_wall_clock_costs_one_stamp_and_then_holds_again() -> None:
    clocks = Clocks()
    clock = StampClock(clocks.wall_ns, clocks.monotonic_ns)

    def read() -> int | None:
        not_before, stamp = clocks.monotonic, clocks.wall_ns() + 300
        clocks.monotonic += 1_000
        return clock.monotonic_of(stamp, not_before_ns=not_before, read_ns=clocks.monotonic)

    assert read() == clocks.monotonic - 700
    clocks.offset += 3_600_000_000_000
    assert read() is None
    assert read() == clocks.monotonic - 700


def test_the_offset_is_measured_again_every_second() -> None:
    clocks = Clocks()
    clock = StampClock(clocks.wall_ns, clocks.monotonic_ns)
    clocks.offset += 100_000  # too little to be noticed at once
    stamp = clocks.wall_ns()
    clocks.monotonic += 2 * MAX_AGE_NS
    read_ns = clocks.monotonic
    at = clock.monotonic_of(stamp, not_before_ns=0, read_ns=read_ns)
    assert at == read_ns - 2 * MAX_AGE_NS


@pytest.mark.parametrize(
    ("switches", "waited_ns", "cpu_ns", "expected"),
    [
        pytest.param(1, 0, 20_000, 980_000, id="woke at once"),
        pytest.param(1, 300_000, 20_000, 680_000, id="waited for a processor"),
        pytest.param(0, 0, 20_000, None, id="did not sleep"),
        pytest.param(2, 0, 20_000, None, id="slept twice"),
    ],
)
def test_the_wake_up_is_dated_by_what_followed_it(
    switches: int, waited_ns: int, cpu_ns: int, expected: int | None
) -> None:
    before = Reading(0, 50_000, b"1000 500 7\n")
    after = Reading(1_000_000, 50_000 + cpu_ns, b"2000 %d %d\n" % (500 + waited_ns, 7 + switches))
    assert woken_not_before(before, after) == expected


def test_the_account_of_a_real_sleep() -> None:
    meter = WakeupMeter()
    before = meter.before_sleep()
    time.sleep(0.05)
    after = meter.after_sleep()
    meter.close()
    assert before is not None
    assert after is not None
    woken = woken_not_before(before, after)
    assert woken is not None
    assert woken - before.at_ns > 0.5 * (after.at_ns - before.at_ns)
