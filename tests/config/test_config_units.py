"""Durations and shares, as written and as meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.config.units import duration, seconds, share


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15s", 15.0),
        ("500ms", 0.5),
        ("2m", 120.0),
        ("1h", 3600.0),
        ("1.5s", 1.5),
        ("1d", 86400.0),
        ("1.1s", 1.1),
        ("3 s", 3),
    ],
)
def test_durations(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "value", ["", "s", "15", "1e3s", "-1s", "1m30s", "15 sec", "٣s", "9" * 400 + "s", None, True, []]
)
def test_not_durations(value: object) -> None:
    with pytest.raises(ValueError, match="must be a duration"):
        seconds(value)


@given(st.integers(min_value=1, max_value=86_400_000))
def test_a_duration_survives_being_written_out(milliseconds: int) -> None:
    value = round(milliseconds / 1000, 9)
    assert seconds(duration(value)) == value


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "500ms"), (90, "90s"), (120, "2m"), (1.5, "1.5s"), (86400, "1d")]
)
def test_durations_are_written_in_the_largest_exact_unit(value: float, text: str) -> None:
    assert duration(value) == text


@pytest.mark.parametrize(
    ("value", "expected"), [("99.5%", 0.995), (0.995, 0.995), ("99.99 %", 0.9999), ("50%", 0.5)]
)
def test_shares(value: object, expected: float) -> None:
    assert share(value) == expected
