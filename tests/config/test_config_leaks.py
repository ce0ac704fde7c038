"""What counts as a secret, and that it is taken out of what we say."""

import pytest

from exporter.config.leaks import holds_key, leaks, looks_random, redact

KEYS = [
    "sk-0123456789abcdef",
    "sk-proj-AbCdEf0123456789_-xyz",
    "sk-ant-api03-abcdef0123456789",
    "hf_abcdefghijklmnopqrstuvwx12",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "gsk_0123456789abcdefghij",
    "nvapi-abcdefgh0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.sflKxwRJSMeKKF2QT4",
]


@pytest.mark.parametrize("key", KEYS)
def test_key_shapes_are_known(key: str) -> None:
    assert holds_key(f"say {key}, please")
    assert key not in redact(f"say {key}, please")


@pytest.mark.parametrize(
    "text",
    [
        "risk-assessment-of-2026-01-02",
        "sk-learn-pipelines",
        "llama-3-70b",
        "task-0123456789abcdef",
        "prod",
        "desk-1",
    ],
)
def test_ordinary_words_are_no_keys(text: str) -> None:
    assert not holds_key(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("http://me:hunter2@host/v1", "http:***host/v1"),
        ("the key sk-abcd is short", "the key *** is short"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_redacted_more_widely_than_refused(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("tree", "places"),
    [
        ({"targets": [{"api_key": "x"}]}, [("targets", 0, "api_key")]),
        ({"targets": [{"API-Key": None}]}, [("targets", 0, "API-Key")]),
        ({"targets": [{"model": KEYS[0]}]}, [("targets", 0, "model")]),
        ({"targets": [{"api_key_env": "PROD_KEY", "api_key_file": "key"}]}, []),
        ({"targets": [{"labels": {"token": "blue"}}]}, []),
        ({"params": {"token": "x"}}, [("params", "token")]),
        ({"params": {"extra_body": {"properties": {"token": {"type": "string"}}}}}, []),
        ({"params": {"extra_body": {"x": KEYS[0]}}}, [("params", "extra_body", "x")]),
    ],
)
def test_places(tree: object, places: list[tuple[str | int, ...]]) -> None:
    assert list(leaks(tree)) == places


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PROD_KEY", False),
        ("OPENAIAPIKEYFORPRODUCTION", False),
        ("a94f1c02e7d84b6f9c3e5d7a1b2c3d4e", True),
    ],
)
def test_a_key_pasted_in_place_of_a_name(name: str, expected: bool) -> None:
    assert looks_random(name) is expected
