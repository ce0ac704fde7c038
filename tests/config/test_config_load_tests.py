"""Load tests in the configuration: what is refused, and what becomes of the rest."""

from pathlib import Path

import pytest

from exporter.config.load import load
from exporter.config.problem import ConfigError
from exporter.model.clocks import Clock
from exporter.model.configuration import TargetPlan
from exporter.model.load_plan import Mode, Within
from exporter.probes import KINDS


def read(tmp_path: Path, test: str, more: str = "") -> TargetPlan:
    path = tmp_path / "c.yml"
    path.write_text(
        "targets:\n- {name: t, base_url: 'http://h/v1', model: m, probes: [{name: p, kind: chat}], "
        f"load: [{{name: a, {test}}}]{more}}}\n"
    )
    return load(path, KINDS).targets[0]


@pytest.mark.parametrize(
    ("says", "test", "words"),
    [
        ("a schedule without confirm", 'cron: "0 3 * * *", concurrency: [1]', "confirm: true"),
        ("cron and every", 'cron: "0 3 * * *", every: 1d, confirm: true, concurrency: [1]', "remove one"),
        ("no crontab", "cron: daily, confirm: true, concurrency: [1]", "five fields"),
        ("an hour that is none", 'cron: "0 25 * * *", confirm: true, concurrency: [1]', "hour 25"),
        ("a weekday in numbers", 'cron: "0 3 * * 0", confirm: true, concurrency: [1]', "weekday 0"),
        ("a closed loop with a rate", "rate: [1]", "takes concurrency"),
        ("an open loop with clients", "mode: poisson, concurrency: [1]", "takes rate"),
        ("more than the cap", "concurrency: [65], max_concurrency: 64", "above max_concurrency"),
        ("a knee of nothing", "concurrency: [1, 8], knee: true", "needs good"),
        ("every second", "every: 1s, confirm: true, concurrency: [1]", "1m to 7d"),
        ("no time at all", "concurrency: [1], timeout: 0s", "above 0s"),
    ],
)
def test_refused(tmp_path: Path, says: str, test: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, test)
    assert words in "\n".join(caught.value.lines)


def test_the_plan_has_what_the_file_says(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        "every: 1h, confirm: true, mode: constant, rate: [2, 4], good: {ttft: 500ms, e2e: 2s}, max_money: 2, "
        "max_seconds: 1m, max_rate: 10",
        ", prices: {input_per_mtok: 1, output_per_mtok: 2}, cost: {capex: 1000}",
    )
    (spec,) = plan.loads
    assert (spec.every_s, spec.cron, spec.is_scheduled) == (3600.0, None, True)
    assert (spec.plan.mode, spec.plan.levels) == (Mode.CONSTANT, (2.0, 4.0))
    assert spec.plan.good == (Within(Clock.TTFT, 0.5), Within(Clock.E2E, 2.0))
    assert (spec.plan.bounds.money, spec.plan.bounds.seconds, spec.plan.bounds.rate) == (2.0, 60.0, 10.0)
    assert (plan.pricing.output_per_mtok, plan.pricing.capex, plan.pricing.pue) == (2.0, 1000.0, 1.2)


def test_a_name_stands_once_in_a_target(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="taken"):
        read(tmp_path, "concurrency: [1]}, {name: a, concurrency: [2]")


def test_an_unscheduled_test_needs_no_confirmation(tmp_path: Path) -> None:
    assert not read(tmp_path, "concurrency: [1]").loads[0].is_scheduled
