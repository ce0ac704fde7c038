"""Every way a request can end has its causes and remedies, and the committed page is the command's output."""

from pathlib import Path

from click.testing import CliRunner

from exporter.cli.reasons import reasons
from exporter.model.outcome import Outcome
from exporter.model.remedy import REMEDIES

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"


def test_every_outcome_but_ok_has_a_remedy() -> None:
    assert set(REMEDIES) == set(Outcome) - {Outcome.OK}
    for remedy in REMEDIES.values():
        assert remedy.cause.endswith(".")
        assert remedy.steps
        assert all(step.endswith((".", ").")) for step in remedy.steps)


def test_the_committed_page_is_the_commands_output() -> None:
    ran = CliRunner().invoke(reasons)
    assert ran.exit_code == 0
    assert ran.output == PAGE.read_text(encoding="utf-8")
    for outcome in REMEDIES:
        assert f"\n## {outcome}\n" in ran.output
