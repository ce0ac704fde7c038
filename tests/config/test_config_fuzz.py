"""Whatever the file holds, the answer is a configuration or a ConfigError, and no secret comes back in it."""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exporter.config import schema
from exporter.config.load import load
from exporter.config.problem import ConfigError
from tests.config.kinds import KINDS, SUITES

HERE = Path(__file__).parent
GOOD = [path.read_bytes() for path in sorted((HERE.parents[1] / "docs" / "examples").glob("*.yml"))]
BAD = [path.read_bytes() for path in sorted(HERE.glob("bad/*.yml"))]
SECRET = "sk-proj-S3cretS3cretS3cretS3cret99"

YAML_SOUP = "ab:-[]{}&*!|>%@`'\"#,?<=~ \n\t\\0x9.é\x00\x7f\u2028\U0001f600"
plain_words = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
models = [m for m in vars(schema).values() if isinstance(m, type) and issubclass(m, schema.Section)]
known_keys = st.sampled_from(sorted({key for model in models for key in model.model_fields}))
keys = known_keys | st.text(max_size=3)
trees = st.recursive(
    plain_words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)
WOUNDS = [b"", b"\n", b" ", b"null", b"[", b"}", b"- ", b"*a", b"&a ", b"!!x ", b"\x00", b"1"]


def told(data: bytes) -> str:
    """Return all that the user would be told about a file of these bytes; any other error fails the test."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "c.yml"
        path.write_bytes(data)
        try:
            return repr(load(path, KINDS, SUITES))
        except ConfigError as error:
            lines = error.lines
    assert lines
    assert all(len(line.splitlines()) == 1 for line in lines)
    return "\n".join(lines)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
@example(b"\xff\xfea\x00")
@example(b"%YAML 9.9\n---\na: 1\n")
@example(b"? ? ? ?\n")
@example(b"a: " + b"9" * 5000)
@example(b"- " * 5000)
@example(b"[" * 50_000)
@example(b"{a: " * 50_000)
def test_any_bytes(data: bytes) -> None:
    told(data)


@settings(max_examples=500, deadline=None)
@given(st.text(alphabet=st.sampled_from(YAML_SOUP), max_size=80))
def test_text_that_looks_like_yaml(text: str) -> None:
    told(text.encode())


@settings(max_examples=500, deadline=None)
@given(trees)
def test_any_tree_of_our_keys_with_any_values(tree: object) -> None:
    told(json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(GOOD + BAD), st.integers(0, 2**32), st.integers(1, 6))
def test_damaged_examples(data: bytes, seed: int, wounds: int) -> None:
    rng = random.Random(seed)
    damaged = bytearray(data)
    for _ in range(wounds if damaged else 0):
        start = rng.randrange(len(damaged) + 1)
        end = min(len(damaged), start + rng.randrange(8))
        damaged[start:end] = rng.choice(
            [b"", b"\n", b" ", b"null", b"[", b"}", b"- ", b"*a", b"&a ", b"!!x ", b"\x00", b"1"]
        )
    told(bytes(damaged))


LINES = GOOD[0].decode().splitlines()
WITH_VALUE = [n for n, line in enumerate(LINES) if ": " in line.split("#")[0]]


@pytest.mark.parametrize("number", WITH_VALUE)
def test_a_secret_in_place_of_a_value_is_refused_and_never_repeated(number: int) -> None:
    key = LINES[number].partition(": ")[0]
    said = told("\n".join([*LINES[:number], f"{key}: {SECRET}", *LINES[number + 1 :]]).encode())
    assert not said.startswith("Configuration(")
    assert "S3cret" not in said


@pytest.mark.parametrize("number", WITH_VALUE)
def test_a_secret_in_place_of_a_key_is_refused_and_never_repeated(number: int) -> None:
    key, _, rest = LINES[number].partition(": ")
    indent = key[: len(key) - len(key.lstrip(" -"))]
    said = told("\n".join([*LINES[:number], f"{indent}{SECRET}: {rest}", *LINES[number + 1 :]]).encode())
    assert not said.startswith("Configuration(")
    assert "S3cret" not in said


@pytest.mark.parametrize(
    "text", [f"{{a: {SECRET}", f"a: !{SECRET} x", f"a: *{SECRET}", f"{SECRET}", f"- {SECRET}: ["]
)
def test_a_secret_in_broken_yaml_is_not_repeated(text: str) -> None:
    assert "S3cret" not in told(text.encode())
