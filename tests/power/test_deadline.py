"""Blocking calls with a deadline."""

import threading
import time

import pytest

from exporter.adapters.deadline import LateError, Line


@pytest.fixture
def line():  # type: ignore[no-untyped-def]
    line: Line[int] = Line("test")
    yield line
    line.close()


def test_a_call_that_returns_in_time_gives_its_result(line: Line[int]) -> None:
    assert line.call(lambda: 7, 10) == 7
    assert line.call(lambda: 8, 10) == 8


def test_a_call_that_hangs_is_late_and_the_next_is_not_begun(line: Line[int]) -> None:
    release = threading.Event()
    begun: list[int] = []
    with pytest.raises(LateError):
        line.call(lambda: release.wait(30) and 1, 0.05)
    with pytest.raises(LateError):
        line.call(lambda: begun.append(1) or 1, 30)
    assert line.is_busy
    assert begun == []
    release.set()
    while line.is_busy:
        time.sleep(0.001)
    assert line.call(lambda: 2, 10) == 2


@pytest.mark.parametrize("error", [ValueError("x"), TimeoutError("the call's own")])
def test_what_the_call_raises_is_raised(line: Line[int], error: Exception) -> None:
    def fail() -> int:
        raise error

    with pytest.raises(type(error), match=str(error)):
        line.call(fail, 10)


def test_a_result_that_was_never_begun_is_a_defect(line: Line[int]) -> None:
    with pytest.raises(RuntimeError):
        line.result(0)
