"""``inference-exporter probe`` as a user types it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from exporter.cli.probe import probe
from tests.cli.command import run
from tests.fakes.scripted_server import ScriptedServer, plain
from tests.probes.sockets import ERROR, GOOD, KEY

ENV = {"THE_KEY": KEY}


def config(tmp_path: Path, url: str) -> str:
    path = tmp_path / "c.yml"
    path.write_text(
        f"targets:\n  - name: t\n    base_url: {url}\n    model: m\n    api_key_env: THE_KEY\n"
        "    probes:\n      - {name: a, kind: chat}\n      - {name: b, kind: models}\n"
    )
    return str(path)


async def test_a_good_probe_shows_its_waterfall(tmp_path: Path) -> None:
    async with ScriptedServer(GOOD) as server:
        ran = await run("probe", "--config", config(tmp_path, server.url), "t", "a", env=ENV)
        assert len(server.requests) == 1
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "t/a (chat) ok"
    names = [line.split()[0] for line in lines[1:] if line.strip()]
    assert names[:9] == ["dns", "connect", "send", "wait", "receive", "ttft", "ttfc", "e2e", "total"]
    assert "tokens: 9 in, 4 out, counted by usage" in lines


async def test_a_failed_probe_says_what_to_do(tmp_path: Path) -> None:
    async with ScriptedServer(plain(ERROR[6:].strip(), "401 Unauthorized")) as server:
        ran = await run("probe", "--config", config(tmp_path, server.url), "t", "a", env=ENV)
    assert ran.code == 1
    assert ran.out.startswith("t/a (chat) auth: HTTP 401")
    assert "Usual cause: The key is missing, wrong" in ran.out
    assert KEY not in ran.out + ran.err


async def test_without_a_probe_all_of_them_run_and_json_has_a_schema(tmp_path: Path) -> None:
    async with ScriptedServer(GOOD, plain('{"data": [{"id": "other"}]}')) as server:
        ran = await run("probe", "--config", config(tmp_path, server.url), "--json", env=ENV)
    said = json.loads(ran.out)
    assert ran.code == 1
    assert said["schema"] == "inference-exporter/probe/1"
    good, bad = said["results"]
    assert (good["ok"], good["outcome"], good["probe"], good["status"]) == (True, "ok", "a", 200)
    assert good["clocks"]["ttft"]["value_s"] > 0
    phases = [value for name, value in good["phases"].items() if name != "total_s" and value is not None]
    assert sum(phases) == pytest.approx(good["phases"]["total_s"], rel=0.05)
    assert good["cause"] is None
    assert (bad["ok"], bad["outcome"]) == (False, "invalid_response")
    assert bad["next_steps"]
    assert bad["clocks"]["ttft"] is None


async def test_the_environment_names_a_target_too() -> None:
    async with ScriptedServer(GOOD) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m"}
        ran = await run("probe", env=env)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("env/chat (chat) ok")


def test_a_name_without_a_configuration_says_how_to_give_one() -> None:
    env = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}
    ran = CliRunner(env=env).invoke(probe, ["prod-chat"])
    assert ran.exit_code == 2
    assert "give --config FILE" in ran.output


WRONG = [
    ("no such target", ["nobody"], "there is no target 'nobody'; there are: t"),
    ("no such probe", ["t", "nothing"], "target t has no probe 'nothing'; it has: a, b"),
]


@pytest.mark.parametrize(("_", "arguments", "says"), WRONG, ids=[row[0] for row in WRONG])
def test_names_that_are_not_there(tmp_path: Path, _: str, arguments: list[str], says: str) -> None:
    ran = CliRunner().invoke(probe, ["--config", config(tmp_path, "http://127.0.0.1:1/v1"), *arguments])
    assert ran.exit_code == 2
    assert says in ran.output
