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
    monkeypatch.setattr(os, "open", refuse)
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


def test_pipe_without_a_writer_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PIPE_S", 0.05)
    os.mkfifo(tmp_path / "pipe")
    assert said(tmp_path / "pipe") == (
        ": is a pipe that nobody writes to the end of; name a file, or write to the pipe and close it"
    )


def test_pipe_that_never_ends_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PIPE_S", 0.05)
    reader, writer = os.pipe()
    os.write(writer, b"benches: [{suite: light}]\n")
    try:
        assert ": is a pipe" in said(Path(f"/dev/fd/{reader}"))
    finally:
        os.close(reader)
        os.close(writer)


def test_certificates_out_of_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ca.pem")
    path = tmp_path / "c.yml"
    path.write_text(
        "targets: [{name: t, base_url: 'https://t/v1', model: m, tls: {ca_file: ca.pem}, "
        "probes: [{name: p, kind: chat}]}]"
    )
    assert "tls.ca_file: cannot be read (a pipe that nobody writes to the end of)" in said(path)


def test_pipe_is_read_like_a_file() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"benches: [{suite: light}]\n")
    os.close(writer)
    try:
        assert load(Path(f"/dev/fd/{reader}"), KINDS).benches[0].suite == "light"
    finally:
        os.close(reader)
