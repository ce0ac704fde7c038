import os
from pathlib import Path

import pytest

from exporter.kernels.runner import start_worker
from exporter.kernels.session import Session
from exporter.model.protocol import Describe
from exporter.workers.limits import go_first


def score(pid):
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def test_the_score_is_written(tmp_path):
    (tmp_path / "oom_score_adj").write_text("0")
    go_first(tmp_path)
    assert (tmp_path / "oom_score_adj").read_text() == "1000"


def test_where_it_cannot_be_written_life_goes_on(tmp_path):
    go_first(tmp_path / "nowhere")


@pytest.mark.torch
async def test_when_memory_runs_out_the_worker_goes_first_and_not_we():
    async with Session(lambda: start_worker(1)) as session:
        await session.ask(Describe(), 30.0)
        assert score(session.pid) == 1000
        assert score(os.getpid()) < 1000
