import pytest

from exporter.scheduler.locks import Locks, Needs

PROBE = Needs(shared=frozenset({"target:a"}))
LOAD = Needs(exclusive=frozenset({"target:a"}))
OTHER = Needs(exclusive=frozenset({"target:b"}))
BOTH = Needs(shared=frozenset({"target:b"}), exclusive=frozenset({"target:a"}))


def test_sharers_hold_together() -> None:
    locks = Locks()
    with locks.trying(PROBE) as first, locks.trying(PROBE) as second:
        assert first
        assert second


def test_an_exclusive_holder_keeps_sharers_and_others_out_until_the_end_of_its_block() -> None:
    locks = Locks()
    with locks.trying(LOAD) as load:
        assert load
        with locks.trying(PROBE) as probe, locks.trying(LOAD) as second:
            assert not probe
            assert not second
    with locks.trying(PROBE) as probe:
        assert probe


def test_an_exclusive_taker_waits_for_the_last_sharer() -> None:
    locks = Locks()
    with locks.trying(PROBE):
        with locks.trying(PROBE):
            pass
        with locks.trying(LOAD) as load:
            assert not load
    with locks.trying(LOAD) as load:
        assert load


def test_other_resources_are_not_touched() -> None:
    locks = Locks()
    with locks.trying(LOAD), locks.trying(OTHER) as other:
        assert other


def test_all_or_nothing_is_taken() -> None:
    locks = Locks()
    with locks.trying(OTHER):
        with locks.trying(BOTH) as both:
            assert not both
        with locks.trying(LOAD) as load:
            assert load


def test_a_hold_ends_with_an_exception_in_the_block() -> None:
    locks = Locks()
    with pytest.raises(KeyError), locks.trying(LOAD):
        raise KeyError
    with locks.trying(LOAD) as load:
        assert load
