"""Target files: found, read again when they settle, and a broken one keeps its last good content."""

import errno
import os
from pathlib import Path

import pytest

from exporter.config.problem import ConfigError
from exporter.config.source import Source
from exporter.model.configuration import Configuration
from tests.config.kinds import KINDS


def target(name: str, every: str = "") -> str:
    more = f", every: {every}" if every else ""
    return (
        f"  - {{name: {name}, base_url: 'http://h/v1', model: m, probes: [{{name: p, kind: chat{more}}}]}}\n"
    )


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "targets.d").mkdir()
        self.time_ns = 1_700_000_000_000_000_000
        self.main(target("main"))

    def main(self, targets: str) -> None:
        (self.path / "c.yml").write_text(
            f"defaults: {{every: 40s}}\ntarget_files: ['targets.d/*.yml']\ntargets:\n{targets}"
        )

    def write(self, name: str, text: str) -> None:
        file = self.path / "targets.d" / name
        file.write_text(text)
        self.time_ns += 1_000_000_000
        os.utime(file, ns=(self.time_ns, self.time_ns))

    def source(self) -> Source:
        return Source(self.path / "c.yml", KINDS, None)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def names(configuration: Configuration | None) -> list[str]:
    assert configuration is not None
    return [plan.target.name for plan in configuration.targets]


def settled(source: Source) -> Configuration | None:
    """What is found by the second look, at which a change has settled."""
    assert source.discovered() is None
    return source.discovered()


def test_targets_come_from_all_files_with_the_defaults_of_the_first(folder: Folder) -> None:
    folder.write("b.yml", f"targets:\n{target('b')}")
    folder.write("a.yml", f"targets:\n{target('a', '20s')}{target('a2')}")
    loaded = folder.source().load()
    assert names(loaded) == ["main", "a", "a2", "b"]
    assert [plan.probes[0].every_s for plan in loaded.targets] == [40.0, 20.0, 40.0, 40.0]
    assert loaded.target_file_problems == ()


def test_files_that_come_change_and_go_are_seen_once(folder: Folder) -> None:
    source = folder.source()
    assert names(source.load()) == ["main"]
    assert source.discovered() is None
    folder.write("a.yml", f"targets:\n{target('a')}")
    assert names(settled(source)) == ["main", "a"]
    assert settled(source) is None
    folder.write("a.yml", f"targets:\n{target('z')}")
    assert names(settled(source)) == ["main", "z"]
    (folder.path / "targets.d" / "a.yml").unlink()
    assert names(settled(source)) == ["main"]


def test_a_file_that_is_still_being_written_is_waited_for(folder: Folder) -> None:
    source = folder.source()
    source.load()
    for count in (1, 2, 3):
        folder.write("a.yml", "targets:\n" + "".join(target(f"t{i}") for i in range(count)))
        assert source.discovered() is None
    assert names(source.discovered()) == ["main", "t0", "t1", "t2"]


BROKEN = [
    ("half a line", f"targets:\n{target('a')}  - {{name: b, ba", "not valid YAML"),
    ("half a target", "targets:\n  - {name: b}\n", "base_url"),
    ("empty", "", "empty"),
    ("another key", f"targets:\n{target('b')}web: {{listen: '0.0.0.0:1'}}\n", "the one key targets"),
    (
        "a key in it",
        "targets:\n  - {name: b, base_url: 'http://h/v1', model: sk-proj-Zx81VerySecretKey}\n",
        "never",
    ),
]


@pytest.mark.parametrize(("_", "text", "says"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_broken_file_keeps_its_last_good_content(folder: Folder, _: str, text: str, says: str) -> None:
    folder.write("a.yml", f"targets:\n{target('a')}")
    folder.write("b.yml", f"targets:\n{target('b1')}")
    source = folder.source()
    source.load()
    folder.write("a.yml", text)
    folder.write("b.yml", f"targets:\n{target('b2')}")
    after = settled(source)
    assert names(after) == ["main", "a", "b2"]
    assert after is not None
    assert any("a.yml" in line and says in line for line in after.target_file_problems)
    assert "VerySecret" not in str(after.target_file_problems)
    folder.write("a.yml", f"targets:\n{target('c')}")
    healed = settled(source)
    assert names(healed) == ["main", "c", "b2"]
    assert healed is not None
    assert healed.target_file_problems == ()


def test_a_broken_file_at_the_start_leaves_the_others(folder: Folder) -> None:
    folder.write("a.yml", "targets: [")
    folder.write("b.yml", f"targets:\n{target('b')}")
    loaded = folder.source().load()
    assert names(loaded) == ["main", "b"]
    assert len(loaded.target_file_problems) == 1


def test_a_name_that_is_taken_is_left_out_and_said(folder: Folder) -> None:
    folder.write("a.yml", f"targets:\n{target('main')}{target('a')}")
    loaded = folder.source().load()
    assert names(loaded) == ["main", "a"]
    assert "the target name main is taken" in loaded.target_file_problems[0]


def test_a_changed_configuration_file_waits_for_a_reload(folder: Folder) -> None:
    source = folder.source()
    source.load()
    folder.main(target("other"))
    folder.write("a.yml", f"targets:\n{target('a')}")
    assert names(settled(source)) == ["main", "a"]
    assert names(source.load()) == ["other", "a"]


def test_a_bad_configuration_file_is_refused_and_the_old_one_is_still_known(folder: Folder) -> None:
    source = folder.source()
    source.load()
    (folder.path / "c.yml").write_text("targets: [")
    with pytest.raises(ConfigError):
        source.load()
    folder.write("a.yml", f"targets:\n{target('a')}")
    assert names(settled(source)) == ["main", "a"]


def test_patterns_alone_are_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text("target_files: ['*.targets.yml']\n")
    (tmp_path / "x.targets.yml").write_text(f"targets:\n{target('x')}")
    assert names(Source(tmp_path / "c.yml", KINDS, None).load()) == ["x"]


def test_a_folder_whose_disk_is_away_is_a_problem_of_a_reload_and_none_of_a_look(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = folder.source()
    source.load()

    def away(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "glob", away)
    assert source.discovered() is None
    with pytest.raises(
        ConfigError, match=r"target_files: .*yml cannot be looked through: Input/output error"
    ):
        source.load()
