import pytest

from exporter.model.crash import describe

SECRET = "sk-very-secret"


def failing(cause: Exception | None = None, *, quietly: bool = False) -> BaseException:
    try:
        try:
            {}[SECRET]
        except KeyError:
            if quietly:
                raise RuntimeError(SECRET) from None
            raise RuntimeError(SECRET) from cause
    except RuntimeError as error:
        return error


def test_type_and_place_without_the_message() -> None:
    line = describe(failing(ValueError(SECRET)))
    assert SECRET not in line
    assert line.startswith("RuntimeError at ")
    assert "tests/model/test_crash.py:" in line
    assert line.endswith(" failing, caused by ValueError at no frame")


def test_the_context_counts_as_cause_unless_it_is_suppressed() -> None:
    def in_context() -> BaseException:
        try:
            try:
                {}[SECRET]
            except KeyError:
                [].pop()
        except IndexError as error:
            return error

    assert "IndexError at " in describe(in_context())
    assert ", caused by KeyError at " in describe(in_context())
    assert "caused by" not in describe(failing(quietly=True))


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError(), TypeError()
    one.__cause__, other.__cause__ = other, one
    assert describe(one) == "ValueError at no frame, caused by TypeError at no frame"


def test_a_deep_recursion_shows_its_last_frames_only() -> None:
    def dive(n: int) -> None:
        if n == 0:
            raise ValueError
        dive(n - 1)

    with pytest.raises(ValueError) as caught:  # noqa: PT011 - any will do
        dive(50)
    assert describe(caught.value).count(" > ") == 11
