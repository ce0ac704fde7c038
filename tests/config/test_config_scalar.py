"""Unquoted words mean what YAML 1.2's core schema says, and never more than a finite number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.config.scalar import resolve


@pytest.mark.parametrize("word", ["", "~", "null", "Null", "NULL"])
def test_nothing(word: str) -> None:
    assert resolve(word) is None


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("7", 7),
        ("-07", -7),
        ("1.5", 1.5),
        (".5", 0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
    ],
)
def test_values(word: str, value: object) -> None:
    assert resolve(word) == value
    assert type(resolve(word)) is type(value)


@pytest.mark.parametrize(
    "word",
    [
        "yes",
        "No",
        "on",
        "0x1F",
        "0o7",
        "12:30",
        "2026-01-02",
        ".inf",
        "-.Inf",
        ".nan",
        "1_000",
        "1e999",
        "٣",
        "9" * 19,
    ],
)
def test_text(word: str) -> None:
    assert resolve(word) == word


@given(st.text(max_size=12))
def test_any_word_has_a_value(word: str) -> None:
    assert resolve(word) is None or isinstance(resolve(word), (str, int, float))
