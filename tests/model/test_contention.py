import pytest

from exporter.model.contention import CpuAccount, foreign_cpu_s, is_over, read_account
from exporter.model.quiet import QuietHours

STAT = """cpu  100 5 20 9000 7 1 2 30 0 0
cpu0 50 2 10 4500 3 0 1 15 0 0
cpu1 50 3 10 4500 4 1 1 15 0 0
intr 5
"""


def test_the_account_has_everyones_time_and_what_was_stolen_but_no_waiting():
    assert read_account(STAT) == CpuAccount(busy_s=pytest.approx(1.58), cores=2)


@pytest.mark.parametrize(
    "text", ["", "cpu 1 2\ncpu0 1 2\n", "cpu  a b c d e f g h\ncpu0 1\n", "cpu  1 2 3 4 5 6 7 8\n"]
)
def test_what_is_no_account_is_not_known(text):
    assert read_account(text) is None


def test_what_we_used_ourselves_is_not_foreign_and_rounding_never_goes_below_zero():
    before, after = CpuAccount(busy_s=1.0, cores=2), CpuAccount(busy_s=3.0, cores=2)
    assert foreign_cpu_s(before, after, 0.5) == pytest.approx(1.5)
    assert foreign_cpu_s(before, after, 2.01) == 0
    assert foreign_cpu_s(None, after, 0) is None


@pytest.mark.parametrize(
    ("foreign", "window", "cores", "over"),
    [
        pytest.param(0.11, 1.0, 2, False, id="a tenth of a core and a tick"),
        pytest.param(0.13, 1.0, 2, True, id="more than that"),
        pytest.param(0.13, 1.0, 64, False, id="on a large machine"),
        pytest.param(0.02, 0.001, 2, False, id="two ticks in a very short window"),
        pytest.param(0.05, 0.05, 2, True, id="a whole core in a short window"),
        pytest.param(None, 1.0, 2, False, id="not known"),
    ],
)
def test_over_the_limit(foreign, window, cores, over):
    assert is_over(foreign, window, cores, 0.05) is over


@pytest.mark.parametrize(
    ("hours", "minute", "quiet"),
    [
        pytest.param(QuietHours(480, 1080), 480, True, id="the first minute"),
        pytest.param(QuietHours(480, 1080), 1080, False, id="the end"),
        pytest.param(QuietHours(480, 1080), 0, False, id="midnight"),
        pytest.param(QuietHours(1320, 390), 0, True, id="over midnight"),
        pytest.param(QuietHours(1320, 390), 720, False, id="noon"),
        pytest.param(QuietHours(0, 1440), 1439, True, id="all day"),
    ],
)
def test_quiet_hours(hours, minute, quiet):
    assert hours.covers(minute) is quiet
