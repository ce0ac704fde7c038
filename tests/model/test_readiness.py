import pytest

from exporter.model.readiness import Pulse, judge


def pulse(alive_s: float, *, every_s: float = 10, deadline_s: float = 5, name: str = "p") -> Pulse:
    return Pulse(name=name, every_s=every_s, deadline_s=deadline_s, alive_s=alive_s)


@pytest.mark.parametrize(
    ("pulses", "any_finished", "is_ready"),
    [
        pytest.param([], False, True, id="without probes there is nothing to wait for"),
        pytest.param([pulse(99)], False, False, id="before the first finished probe it is not ready"),
        pytest.param([pulse(99)], True, True, id="a probe that just finished makes it ready"),
        pytest.param([pulse(65)], True, True, id="three intervals and a run are not yet silence"),
        pytest.param([pulse(64.9)], True, False, id="more than three intervals and a run are silence"),
        pytest.param(
            [pulse(0), pulse(99)], True, True, id="one silent probe of two is news, not unreadiness"
        ),
        pytest.param([pulse(0), pulse(10)], True, False, id="all probes silent is not ready"),
        pytest.param([pulse(0), pulse(50, every_s=60)], True, True, id="a slow probe has its own intervals"),
        pytest.param([pulse(40, deadline_s=30)], True, True, id="a run may take all the time it is given"),
    ],
)
def test_verdict(pulses: list[Pulse], any_finished: bool, is_ready: bool) -> None:
    assert judge(pulses, any_finished=any_finished, now_s=100).ready is is_ready


def test_the_reason_names_the_last_probe_and_how_long_ago() -> None:
    verdict = judge([pulse(0, name="a"), pulse(10, name="b")], any_finished=True, now_s=100)
    assert verdict.reason == "no probe has finished for 3 intervals: the last one was b, 90 s ago"
