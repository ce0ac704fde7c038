import pytest

from tests.kernels.stage import Stage


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path / "diary")


@pytest.fixture
def only(monkeypatch):
    """Give every suite name this one suite."""

    def put(suite):
        from exporter.kernels import runner

        monkeypatch.setattr(runner, "SUITES", dict.fromkeys(("light", "nightly", "hourly", "once"), suite))

    return put
