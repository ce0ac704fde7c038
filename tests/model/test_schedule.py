import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.schedule import Due, Grid, Slot, come_up, due, stagger

TIMES = st.integers(0, 10**15)
GRIDS = st.builds(Grid, st.integers(-(10**15), 10**15), st.integers(1, 10**12))


def test_a_grid_needs_a_positive_interval() -> None:
    with pytest.raises(ValueError, match="positive interval"):
        Grid(0, 0)


@given(GRIDS, TIMES)
def test_now_lies_in_the_slot_that_index_at_gives(grid: Grid, now_ns: int) -> None:
    index = grid.index_at(now_ns)
    assert grid.slot(index).start_ns <= now_ns < grid.slot(index + 1).start_ns


@given(GRIDS, TIMES)
def test_the_next_slot_is_ahead_and_never_before_the_first(grid: Grid, now_ns: int) -> None:
    slot = grid.next_after(now_ns)
    assert slot.start_ns > now_ns
    assert slot.index >= 0


GRID = Grid(anchor_ns=1000, every_ns=100)


@pytest.mark.parametrize(
    ("next_index", "now_ns", "expected"),
    [
        pytest.param(0, 990, Due(None, 0, 0), id="before the first slot nothing is due"),
        pytest.param(0, 1000, Due(Slot(0, 1000), 0, 1), id="the first slot is due at the anchor"),
        pytest.param(1, 1050, Due(None, 0, 1), id="a slot that is accounted for is not due again"),
        pytest.param(0, 1150, Due(Slot(1, 1100), 1, 2), id="of two slots the last runs and one is missed"),
        pytest.param(0, 1051, Due(None, 1, 1), id="beyond the grace the slot is missed"),
        pytest.param(0, 1090, Due(None, 1, 1), id="the next slot is not yet due at ten before it"),
        pytest.param(3, 9990, Due(None, 87, 90), id="after a long block every slot is missed"),
    ],
)
def test_due(next_index: int, now_ns: int, expected: Due) -> None:
    assert due(GRID, next_index, now_ns, grace_ns=50, early_ns=5) == expected


def test_a_slot_within_the_early_span_counts_as_come_up() -> None:
    assert due(GRID, 0, 995, grace_ns=50, early_ns=5) == Due(Slot(0, 1000), 0, 1)
    assert come_up(GRID, 0, 995, early_ns=5) == 1
    assert come_up(GRID, 1, 995, early_ns=5) == 0


@given(st.lists(st.integers(0, 5000), min_size=1), st.integers(0, 200), st.integers(0, 10))
def test_every_slot_is_run_or_missed_exactly_once(waits: list[int], grace_ns: int, early_ns: int) -> None:
    next_index = 0
    ran: list[int] = []
    missed = 0
    for now_ns in itertools.accumulate(waits):
        found = due(GRID, next_index, now_ns, grace_ns=grace_ns, early_ns=early_ns)
        ran += [found.slot.index] if found.slot else []
        missed += found.missed
        next_index = found.next_index
    assert len(ran) + missed == next_index == max(GRID.index_at(sum(waits) + early_ns) + 1, 0)
    assert ran == sorted(set(ran))


@given(st.integers(0, 10_000), st.floats(0.001, 1e5))
def test_stagger_lies_within_the_interval(order: int, every_s: float) -> None:
    assert 0 <= stagger(order, every_s) < every_s


@pytest.mark.parametrize("n", [2, 3, 10, 100, 1000])
def test_staggered_starts_are_spread_evenly_for_every_number_of_jobs(n: int) -> None:
    starts = sorted(stagger(order, 1.0) for order in range(n))
    gaps = [b - a for a, b in itertools.pairwise([*starts, starts[0] + 1.0])]
    assert max(gaps) < 2.7 / n
    assert min(gaps) > 0.3 / n


def test_neighbours_are_far_apart() -> None:
    for order in range(1000):
        apart = abs(stagger(order, 1.0) - stagger(order + 1, 1.0))
        assert min(apart, 1 - apart) > 0.3
