"""Budgets: admitted before, booked after, outliving a restart, and a broken state file set aside."""

import json
from pathlib import Path

import pytest

from exporter.app.budgets import Budgets
from exporter.config.forecast import most_tokens
from exporter.model.budget import Spend
from exporter.model.clocks import Phases, Tokens
from exporter.model.outcome import Outcome
from exporter.model.target import Budget, Prices
from exporter.probes.chat import Params
from tests.metrics.builders import probe, result, target

ASK = probe(params=Params(prompt="hi", max_tokens=89))  # 11 tokens in by estimate, at most 100 in all
SENT = Phases(send_s=0.0, wait_s=1.0, total_s=1.0)
DAY_S = 86_400.0


class Day:
    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0
        self.shown: list[Spend] = []
        self.file: list[bool] = []

    def budgets(self, path: Path | None = None) -> Budgets:
        return Budgets(
            lambda: self.now_s,
            path=path,
            on_spent=lambda _target, spent: self.shown.append(spent),
            on_file=self.file.append,
        )


def bounded(tokens: int = 250) -> object:
    return target(budget=Budget(tokens_per_day=tokens))


def test_the_most_a_request_can_cost_is_held_against_what_is_left() -> None:
    budgets = Day().budgets()
    assert most_tokens(ASK) == (11, 89)
    reserved = [budgets.admit(bounded(), ASK) for _ in range(3)]
    assert reserved == [Spend(100), Spend(100), None]
    budgets.settle(bounded(), Spend(100), result(tokens=Tokens(input=5, output=5)))
    assert budgets.admit(bounded(), ASK) == Spend(100)


def test_money_has_a_bound_of_its_own() -> None:
    prices = Prices(input_per_mtok=0.0, output_per_mtok=1_000_000.0, currency="EUR")
    rich = target(prices=prices, budget=Budget(money_per_day=100.0))
    budgets = Day().budgets()
    assert budgets.admit(rich, ASK) == Spend(100, 89.0)
    assert budgets.admit(rich, ASK) is None


def test_without_a_budget_nothing_is_counted() -> None:
    day = Day()
    budgets = day.budgets()
    assert all(budgets.admit(target(), ASK) == Spend() for _ in range(100))
    budgets.settle(target(), Spend(), result())
    budgets.show([target()])
    assert day.shown == []


COSTS = [
    ("what the server counted", result(tokens=Tokens(input=7, output=3)), 10),
    ("counted in a failure", result(Outcome.STREAM_TRUNCATED, tokens=Tokens(output=3), phases=SENT), 3),
    ("nobody counted", result(phases=SENT, status=200), 100),
    ("the deadline struck", result(Outcome.TIMEOUT_TOTAL, phases=SENT), 100),
    ("the server failed", result(Outcome.HTTP_5XX, phases=SENT, status=500), 100),
    ("refused", result(Outcome.RATE_LIMITED, phases=SENT, status=429), 0),
    ("never sent", result(Outcome.CONNECT, phases=Phases(connect_s=1.0, total_s=1.0)), 0),
    ("no key", result(Outcome.AUTH), 0),
    ("given up by us", None, 100),
]


@pytest.mark.parametrize(("_", "ended", "tokens"), COSTS, ids=[row[0] for row in COSTS])
def test_what_a_request_is_booked_at(_: str, ended: object, tokens: int) -> None:
    day = Day()
    budgets = day.budgets()
    budgets.settle(bounded(), budgets.admit(bounded(), ASK), ended)
    assert day.shown == [Spend(tokens)]


def test_a_new_day_begins_at_nothing() -> None:
    day = Day()
    budgets = day.budgets()
    for _ in range(2):
        budgets.settle(bounded(), budgets.admit(bounded(), ASK), None)
    assert budgets.admit(bounded(), ASK) is None
    day.now_s += DAY_S
    assert budgets.admit(bounded(), ASK) == Spend(100)


async def test_what_was_spent_outlives_a_restart(tmp_path: Path) -> None:
    day, path = Day(), tmp_path / "state.json"
    first = day.budgets(path)
    for _ in range(2):
        first.settle(bounded(), first.admit(bounded(), ASK), None)
    await first.aclose()
    second = day.budgets(path)
    assert second.admit(bounded(), ASK) is None
    day.now_s += DAY_S
    assert second.admit(bounded(), ASK) is not None
    assert day.file == [True, True, True]
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]  # noqa: ASYNC240
    assert json.loads(path.read_text())["version"] == 1


async def test_it_is_written_without_a_stop_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.app.budgets.WRITE_AFTER_S", 0.01)
    path = tmp_path / "state.json"
    budgets = Day().budgets(path)
    budgets.settle(bounded(), budgets.admit(bounded(), ASK), None)
    assert budgets._writing is not None
    await budgets._writing
    assert path.read_bytes()


BROKEN = [
    ("half a file", b'{"version": 1, "spe'),
    ("a list", b"[]"),
    ("not text", b"\xff\xfe\x00"),
    ("nothing", b""),
]


@pytest.mark.parametrize(("_", "content"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_file_is_set_aside_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, _: str, content: bytes
) -> None:
    day, path = Day(), tmp_path / "state.json"
    path.write_bytes(content)
    budgets = day.budgets(path)
    assert budgets.admit(bounded(), ASK) == Spend(100)
    assert day.file == [False]
    assert "is broken and was set aside" in caplog.text
    assert (tmp_path / "state.json.broken").read_bytes() == content
    assert not path.exists()


def test_odd_entries_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    good = {"day": "2023-11-14", "tokens": 200, "money": 0}
    path.write_text(json.dumps({"spent": {"prod": good, "x": 3, "y": {"day": 1}, "z": {"tokens": "many"}}}))
    assert Day().budgets(path).admit(bounded(), ASK) is None


async def test_a_folder_that_cannot_be_written_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    day = Day()
    budgets = day.budgets(tmp_path / "no-such-folder" / "state.json")
    budgets.settle(bounded(), budgets.admit(bounded(), ASK), None)
    await budgets.aclose()
    assert day.file == [True, False]
    assert "cannot be written: No such file or directory" in caplog.text
