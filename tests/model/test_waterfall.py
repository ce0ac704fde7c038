"""A request as bars."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.clocks import Measured, Phases, Timing
from exporter.model.result_json import result_json
from exporter.model.result_text import result_text
from exporter.model.waterfall import Bar, bars, drawn, milliseconds
from tests.metrics.builders import result

PHASES = Phases(dns_s=0.1, connect_s=0.2, send_s=0.0, wait_s=0.3, receive_s=0.4, total_s=1.0)


def test_bars_follow_each_other_and_clocks_begin_at_the_first_byte() -> None:
    shown = bars(result(phases=PHASES, timing=Timing(ttft=Measured(0.3), e2e=Measured(0.7))))
    assert [(bar.name, pytest.approx(bar.start_s)) for bar in shown] == [
        ("dns", 0.0),
        ("connect", 0.1),
        ("send", 0.3),
        ("wait", 0.3),
        ("receive", 0.6),
        ("ttft", 0.3),
        ("e2e", 0.3),
    ]
    assert bars(result()) == ()


@given(start=st.floats(0, 2), length=st.floats(0, 2), total=st.floats(0, 2), width=st.integers(1, 80))
def test_a_bar_is_as_wide_as_its_line(start: float, length: float, total: float, width: int) -> None:
    line = drawn(Bar("x", start, length), total, width)
    assert len(line) == width
    assert (line.strip() != "") is (total > 0)


def test_half_the_time_is_half_the_line() -> None:
    assert drawn(Bar("x", 0.5, 0.5), 1.0, 8) == "    ████"
    assert drawn(Bar("x", 0.0, 0.0), 1.0, 4) == "▏   "


def test_durations_for_people() -> None:
    assert [milliseconds(s) for s in (0.00012, 0.0123, 0.123, 12.3)] == [
        "0.12 ms",
        "12.3 ms",
        "123 ms",
        "12,300 ms",
    ]


def test_a_result_as_text_and_as_json_says_nothing_of_prompt_or_key() -> None:
    shown = result_text(result(phases=PHASES, timing=Timing(e2e=Measured(0.7))))
    assert shown.startswith("prod/short (chat) ok at 2023-11-14T22:13:20+00:00\n")
    assert "connect |" in shown
    assert result_json(result())["phases"] is None
