"""A file that cannot even be read is one clear line."""

import os
from pathlib import Path

import pytest

from exporter.config import files
from exporter.config.load import load
from exporter.config.problem import ConfigError
from tests.config.kinds import KINDS


def said(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load(path, KINDS)
    (line,) = caught.value.lines
    return line.removeprefix(str(path))


def test_missing_file(tmp_path: Path) -> None:
    assert said(tmp_path / "no.yml") == ": no such file; check the path"


def test_directory(tmp_path: Path) -> None:
    assert said(tmp_path) == ": is a directory; name the YAML file in it"


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    # By a stand-in, because the tests may run as root, whom no file mode stops.
    monkeypatch.setattr(Path, "open", refuse)
    assert said(tmp_path / "c.yml") == ": cannot be read: Permission denied; check owner and mode"


def test_file_in_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text("x")
    assert said(tmp_path / "c.yml" / "d.yml") == ": cannot be read: Not a directory; check owner and mode"


def test_huge_file(tmp_path: Path) -> None:
    path = tmp_path / "c.yml"
    path.write_bytes(b"#" * (files.MAX_BYTES + 1))
    assert said(path) == ": is larger than 1 MiB; split the targets over several exporters"


def test_endless_device() -> None:
    assert said(Path("/dev/zero")) == ": is larger than 1 MiB; split the targets over several exporters"


def test_pipe_is_read_like_a_file() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"benches: [{suite: light}]\n")
    os.close(writer)
    try:
        assert load(Path(f"/dev/fd/{reader}"), KINDS).benches[0].suite == "light"
    finally:
        os.close(reader)
