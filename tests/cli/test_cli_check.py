"""``check``: problems with their places, or what would run and cost."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exporter.cli.main import cli

CONFIG = """\
targets:
  - name: prod
    base_url: https://api.example.com/v1
    model: m
    api_key_env: PROD_KEY
    prices: {input_per_mtok: 0, output_per_mtok: 2.5, currency: EUR}
    probes:
      - name: short
        kind: chat
        timeout: 10s
        params: {max_tokens: 100}
        sla: {ttft: {p99: 500ms}, availability: 99.5%}
      - {name: slow, kind: chat, every: 1h, timeout: 20s, params: {max_tokens: 10}}
benches:
  - {suite: light, every: 5m}
  - {suite: light, every: 1h, devices: [cpu]}
web: {listen: "[::1]:9780"}
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.yml"
    path.write_text(CONFIG)
    return path


def check(*paths: Path, key: str | None = "x") -> Result:
    return CliRunner().invoke(cli, ["check", *map(str, paths)], env={"PROD_KEY": key})


def test_good_file_says_what_will_run_and_cost(good: Path) -> None:
    result = check(good)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = [line.split() for line in result.stdout.removeprefix(str(good)).splitlines()]
    assert lines[0] == [":", "ok,", "listens", "on", "[::1]:9780"]
    assert lines[2][:5] == ["prod", "short", "chat", "15s", "5,760"]
    assert lines[2][6:] == ["1.44", "EUR", "ttft", "p99", "<=", "500ms,", "availability", "99.5%"]
    assert lines[3][:5] == ["prod", "slow", "chat", "1h", "24"]
    assert (
        "  4.0 requests a minute, 5,784 a day, spread evenly over the intervals" in result.stdout.splitlines()
    )
    assert "  up to about 1.44 EUR a day" in result.stdout.splitlines()
    assert lines[-2] == ["light", "5m", "288", "every", "device", "found"]
    assert lines[-1] == ["light", "1h", "24", "cpu"]


def test_table_columns_line_up(good: Path) -> None:
    head, first, second = check(good).stdout.splitlines()[1:4]
    for title, one, other in [
        ("EVERY", "15s", "1h"),
        ("REQUESTS/DAY", "5,760", "24"),
        ("PROMISES", "ttft", "-"),
    ]:
        column = head.index(title)
        assert first[column:].startswith(one)
        assert second[column:].startswith(other)


def test_unset_key_is_a_warning_and_no_error(good: Path) -> None:
    result = check(good, key=None)
    assert result.exit_code == 0
    assert result.stderr == (
        f"{good}: warning: target prod: the environment variable PROD_KEY is not set; "
        "until it is, every probe fails with reason auth\n"
    )


def test_every_problem_of_every_file_is_told(good: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text("targets: 1\nbenchs: []\n")
    result = check(bad, good, tmp_path / "missing.yml")
    assert result.exit_code == 1
    assert result.stderr == (
        f"{bad}:1: targets: must be a list: one '- ' line for each item\n"
        f"{bad}:2: benchs: unknown key; did you mean `benches`?\n"
        f"{tmp_path}/missing.yml: no such file; check the path\n"
    )
    assert result.stdout.startswith(f"{good}: ok, ")


def test_no_file_is_an_error_of_use() -> None:
    assert check().exit_code == 2


def test_costs_in_two_currencies_are_not_added(good: Path) -> None:
    second = (
        CONFIG.split("benches:", maxsplit=1)[0]
        .replace("targets:\n", "")
        .replace("prod", "b")
        .replace("EUR", "USD")
    )
    good.write_text(CONFIG.replace("benches:", second + "benches:"))
    assert "  up to about 1.44 EUR and 1.44 USD a day" in check(good).stdout.splitlines()


def test_without_prices_no_money_is_named(good: Path) -> None:
    good.write_text("".join(line for line in CONFIG.splitlines(keepends=True) if "prices" not in line))
    assert "EUR" not in check(good).stdout
    assert "up to about" not in check(good).stdout


def test_benches_alone_are_enough(good: Path) -> None:
    good.write_text("benches: [{suite: light}]\n")
    result = check(good)
    assert result.exit_code == 0
    assert "requests a minute" not in result.stdout
