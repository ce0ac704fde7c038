"""Two exporters with one configuration share its targets."""

from contextlib import ExitStack
from pathlib import Path

from click.testing import CliRunner

from exporter.cli.main import cli
from tests.e2e.exporter_process import Exporter, started

NAMES = {"prod-chat", "lab", "eu", "us", "asia"}
CONFIG = """\
web: {listen: "127.0.0.1:0"}
targets:
""" + "".join(
    f"  - {{name: {name}, base_url: 'http://127.0.0.1:9/v1', model: m, probes: [{{name: p, kind: chat}}]}}\n"
    for name in sorted(NAMES)
)


def targets(exporter: Exporter) -> set[str]:
    found = (dict(labels) for name, labels in exporter.series() if name == "inference_target_info")
    return {labels["target"] for labels in found}


def test_each_target_is_in_one_of_two_exporters(tmp_path: Path) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text(CONFIG)
    with ExitStack() as stack:
        both = [
            stack.enter_context(started("run", "--config", str(path), "--shard", f"{i}/2")) for i in (0, 1)
        ]
        for exporter in both:
            exporter.wait_until_up()
        first, second = map(targets, both)
        assert first | second == NAMES
        assert not first & second
        assert first
        assert second
        assert both[0].get("/-/reload", "POST")[0] == 200
        assert targets(both[0]) == first


def test_what_is_no_shard_is_refused_at_the_command_line() -> None:
    run = CliRunner().invoke(cli, ["run", "--shard", "2/2"])
    assert run.exit_code == 2
    assert "the shards of 2 are numbered 0 to 1" in run.output
