"""A truth server for a test, and connections to it."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from benchmarks.truth import TruthServer, build, missing_tools
from tests.truth.raw_client import Client

Start = Callable[..., TruthServer]


@pytest.fixture(scope="session")
def compiler() -> None:
    """Skip where nothing can be compiled, unless everything is required; build once."""
    lacking = missing_tools()
    if lacking and os.environ.get("INFERENCE_REQUIRE_ALL"):
        pytest.fail(f"INFERENCE_REQUIRE_ALL is set and {lacking} is not installed")
    if lacking:
        pytest.skip(f"needs {lacking}")
    build()


@pytest.fixture
def start(compiler: None) -> Iterator[Start]:
    """Start truth servers that end with the test."""
    with ExitStack() as stack:
        yield lambda *options, **named: stack.enter_context(TruthServer(*options, **named))


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    """Open connections that end with the test."""
    with ExitStack() as stack:
        yield lambda *given, **named: stack.enter_context(Client(*given, **named))
