"""Targets are split without overlap or loss, and move as little as can be when there are more shards."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.configuration import BenchPlan, Configuration, TargetPlan, WebOptions
from exporter.model.shard import Shard, owner, parse_shard, part, sharded, shards_of_changes
from tests.metrics.builders import target

NAMES = st.lists(st.text(min_size=1, max_size=40), unique=True, max_size=60)
COUNTS = st.integers(1, 12)


def configuration(names: list[str]) -> Configuration:
    return Configuration(
        targets=tuple(TargetPlan(target=target(name), probes=()) for name in names),
        benches=(BenchPlan(suite="light", every_s=60.0),),
        web=WebOptions(host="127.0.0.1", port=9780),
    )


def has(each: Configuration) -> list[str]:
    return [plan.target.name for plan in each.targets]


@given(NAMES, COUNTS)
def test_every_target_is_in_one_shard_and_order_stays(names: list[str], count: int) -> None:
    whole = configuration(names)
    parts = [part(whole, Shard(number, count)) for number in range(count)]
    assert sorted(name for each in parts for name in has(each)) == sorted(names)
    for each in parts:
        assert [name for name in names if name in has(each)] == has(each)
        assert (each.benches, each.web) == (whole.benches, whole.web)


@given(NAMES, COUNTS)
def test_with_one_shard_more_targets_move_to_it_and_nowhere_else(names: list[str], count: int) -> None:
    for name in names:
        assert owner(name, count + 1) in {owner(name, count), count}


@given(st.lists(st.text(min_size=1), min_size=1, max_size=30, unique=True), st.text(min_size=1), COUNTS)
def test_what_other_targets_there_are_does_not_matter(names: list[str], name: str, count: int) -> None:
    here = Shard(owner(name, count), count)
    assert name in has(part(configuration([*{*names, name}]), here))


def test_the_split_is_even_and_the_move_is_minimal() -> None:
    names = [f"target-{i}" for i in range(3000)]
    before, after = ([owner(name, count) for name in names] for count in (3, 4))
    assert all(900 <= n <= 1100 for n in Counter(before).values())
    moved = sum(a != b for a, b in zip(before, after, strict=True))
    assert 650 <= moved <= 850  # a quarter; hashing modulo N would move three


def test_the_owner_is_the_same_in_every_process_and_version() -> None:
    assert [owner(name, 4) for name in ("prod-chat", "lab", "eu", "us")] == OWNERS


OWNERS = [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "write I/N"),
        ("1", "write I/N"),
        ("-1/3", "write I/N"),
        ("1/3/5", "write I/N"),
        ("٣/٤", "write I/N"),
        ("3/3", "numbered 0 to 2"),
        ("0/0", "1 to 1000 shards"),
        ("0/1001", "1 to 1000 shards"),
    ],
)
def test_what_is_no_shard_is_refused_with_what_to_write(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_shard(text)


@given(st.integers(1, 1000).flatmap(lambda count: st.tuples(st.integers(0, count - 1), st.just(count))))
def test_a_shard_is_written_as_it_is_read(numbers: tuple[int, int]) -> None:
    assert parse_shard(str(Shard(*numbers))) == Shard(*numbers)


def test_without_a_shard_everything_is_read() -> None:
    whole = configuration(["a", "b"])
    assert sharded(lambda: whole, None)() is whole
    assert has(sharded(lambda: whole, Shard(0, 1))()) == ["a", "b"]


def test_changes_that_are_discovered_are_split_too() -> None:
    names = [f"target-{i}" for i in range(20)]
    shard = Shard(1, 3)
    found = shards_of_changes(lambda: configuration(names), shard)()
    assert found is not None
    assert has(found) == [name for name in names if owner(name, 3) == 1]
    assert shards_of_changes(lambda: None, shard)() is None
    assert shards_of_changes(lambda: configuration(names), None)() == configuration(names)
