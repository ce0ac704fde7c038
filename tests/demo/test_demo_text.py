import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from exporter.demo.text import TextStream


def pieces(text: bytes, *stops: str) -> tuple[list[str], bool]:
    stream = TextStream(stops)
    sent = []
    for byte in text:
        sent.append(stream.feed(byte))
        if stream.stopped:
            return sent, True
    return [*sent, stream.flush()], False


@pytest.mark.parametrize(
    ("text", "stops", "sent", "stopped"),
    [
        pytest.param("ab", [], ["a", "b", ""], False, id="each character at once without stop strings"),
        pytest.param("é", [], ["", "é", ""], False, id="a character only when it is whole"),
        pytest.param(
            "axyb", ["xyz"], ["a", "", "", "xyb", ""], False, id="what may be a stop is held until it is not"
        ),
        pytest.param("axyzb", ["xyz"], ["a", "", "", ""], True, id="a stop string ends the text before it"),
        pytest.param("axy", ["xyz"], ["a", "", "", "xy"], False, id="half a stop string is sent at the end"),
        pytest.param("aab", ["ab"], ["", "a", ""], True, id="a stop can begin inside a failed one"),
        pytest.param("abc", ["bc", "abc"], ["", "", ""], True, id="the stop that begins first wins"),
        pytest.param("aé!", ["é"], ["a", "", ""], True, id="a stop string of two bytes"),
    ],
)
def test_text_is_sent_as_soon_as_it_is_certain(
    text: str, stops: list[str], sent: list[str], stopped: bool
) -> None:
    assert pieces(text.encode(), *stops) == (sent, stopped)


def test_half_a_character_at_the_end_becomes_one_replacement_character() -> None:
    assert pieces(b"a\xc3") == (["a", "", "\ufffd"], False)


@example("aaab", ["aab"])
@given(st.text("abé", max_size=12), st.lists(st.text("abé", min_size=1, max_size=4), max_size=4))
def test_the_text_is_what_stands_before_the_first_stop_to_be_completed(text: str, stops: list[str]) -> None:
    complete = next(
        (end for end in range(1, len(text) + 1) if any(text[:end].endswith(s) for s in stops)), None
    )
    sent, stopped = pieces(text.encode(), *stops)
    if complete is None:
        assert ("".join(sent), stopped) == (text, False)
    else:
        longest = max(len(s) for s in stops if text[:complete].endswith(s))
        assert ("".join(sent), stopped) == (text[: complete - longest], True)
