"""The front of the command: what is there, and that it starts fast because it imports little."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from exporter import __version__
from exporter.cli.main import COMMANDS, cli
from exporter.config.problem import ConfigError, Problem

ROOT = Path(__file__).parents[2]
HEAVY = ("aiohttp", "apscheduler", "httptools", "httpx2", "jinja2", "numpy", "openai")
HEAVY += ("prometheus_client", "pynvml", "rich", "torch")
INSTALLED = cli.list_commands(click.Context(cli))
REPORT = """
import sys
from exporter.__main__ import main
try:
    main()
finally:
    print("HEAVY", *(name for name in sys.argv_heavy if name in sys.modules), file=sys.stderr)
"""


def start(*arguments: str) -> tuple[int, float, list[str], str]:
    """Run the command in a process of its own; return exit code, CPU seconds, heavy imports and output."""
    program = f"import sys\nsys.argv_heavy = {HEAVY}\n{REPORT}"
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    heavy = next(line for line in output.splitlines() if line.startswith("HEAVY")).split()[1:]
    return process.returncode, usage.ru_utime + usage.ru_stime, heavy, output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["check", "--help"],
        ["check", "docs/examples/full.yml"],
        ["check", "no.yml"],
    ],
    ids=" ".join,
)
def test_starts_in_half_a_second_of_cpu_and_imports_nothing_heavy(arguments: list[str]) -> None:
    runs = [start(*arguments) for _ in range(3)]
    assert runs[0][2] == []
    # The least of three: a first run may compile byte code, and a busy machine only ever adds.
    assert min(cpu_s for _, cpu_s, _, _ in runs) < 0.5


def test_help_lists_every_command_with_its_line() -> None:
    output = CliRunner().invoke(cli, ["--help"]).output
    for name in INSTALLED:
        assert f"  {name} " in output
        assert COMMANDS[name] in output


def test_help_does_not_import_the_commands() -> None:
    program = """
import sys
from exporter.cli.main import cli
cli(["--help"], standalone_mode=False)
print([name for name in sys.modules if name.startswith("exporter.cli.")])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "['exporter.cli.main']"


def test_every_command_file_is_listed() -> None:
    files = {path.stem for path in (ROOT / "exporter" / "cli").glob("*.py")} - {"__init__", "main"}
    commands = {name for name in files if not name.startswith("_") and f"\ndef {name}(" in _source(name)}
    assert commands == set(INSTALLED)


def _source(name: str) -> str:
    return (ROOT / "exporter" / "cli" / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", INSTALLED)
def test_command_loads_under_its_name_and_explains_itself(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert CliRunner().invoke(cli, [name, "--help"]).exit_code == 0


def test_unknown_command_is_an_error_of_use() -> None:
    result = CliRunner().invoke(cli, ["chekc"])
    assert result.exit_code == 2
    assert "No such command 'chekc'" in result.output


def test_version() -> None:
    assert CliRunner().invoke(cli, ["--version"]).output == f"inference-exporter, version {__version__}\n"


def test_a_bad_configuration_ends_any_command_with_its_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def check() -> None:
        raise ConfigError("c.yml", [Problem(3, "web.listen", "must be HOST:PORT"), Problem(1, "", "first")])

    monkeypatch.setattr("exporter.cli.check.check", check)
    result = CliRunner().invoke(cli, ["check"])
    assert result.exit_code == 1
    assert result.stderr == "c.yml:1: first\nc.yml:3: web.listen: must be HOST:PORT\n"
    assert result.stdout == ""
