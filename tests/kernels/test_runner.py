import asyncio
import dataclasses
import itertools
import os
import sys
from pathlib import Path

import psutil
import pytest

from exporter.adapters.child import ChildEnd, ChildFault, start_child
from exporter.kernels import runner as runner_module
from exporter.kernels import session as session_module
from exporter.kernels.runner import BenchRunner
from exporter.kernels.suite import ARTICLE, SUITES, Suite, known_runs
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import Backend, Verdict

ROOT = Path(__file__).parents[2]
ON_CPU = BenchPlan(suite="light", every_s=300, devices=("cpu",))
EVERYWHERE = BenchPlan(suite="light", every_s=300)


class Stage:
    """Runs the bench with a fake worker; ``lines`` is what was announced, ``pids`` who worked."""

    def __init__(self, diary):
        self.diary = diary
        self.lines = []

    @property
    def pids(self):
        return [int(line) for line in self.diary.read_text().split()] if self.diary.exists() else []

    def runner(self, character, **doors):
        environment = {"PYTHONPATH": str(ROOT), "CHARACTER": character, "DIARY": str(self.diary)}

        async def start():
            return await start_child("tests.kernels.fake_worker", str(os.getpid()), environment=environment)

        return BenchRunner(**{"start": start, "announce": self.lines.append} | doors)

    async def report(self, character, plan=ON_CPU, **doors):
        report = await self.runner(character, **doors).run(plan)
        assert not any(psutil.pid_exists(pid) for pid in self.pids)
        return report


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path / "diary")


async def test_one_worker_answers_for_every_variant_on_every_device(stage):
    report = await stage.report("well", EVERYWHERE)
    assert [r.run.labels[1:3] for r in report.results] == [
        ("naive", "cpu"),
        ("sdpa", "cpu"),
        ("naive", "cuda:0"),
        ("sdpa", "cuda:0"),
    ]
    assert {r.verdict for r in report.results} == {Verdict.OK}
    assert report.results[0].summary.median_s == 0.01
    assert report.results[3].summary.median_s == 0.001
    assert report.supported is True
    assert report.environment.torch_version == "9.9"
    assert len(stage.pids) == 1
    assert stage.lines == []


async def test_the_report_has_the_time_it_took_and_when_it_ended(stage):
    report = await stage.report("well", monotonic_s=itertools.count(10.0).__next__, unix_s=lambda: 1e9)
    assert report.seconds > 0
    assert report.finished_unix_s == 1e9


@pytest.mark.parametrize(
    ("character", "verdict", "words"),
    [
        pytest.param("crashing", Verdict.CRASHED, "SIGABRT", id="a crash"),
        pytest.param("hanging", Verdict.TIMEOUT, "no answer within", id="a hang"),
        pytest.param("chatty", Verdict.BAD_OUTPUT, "loading kernels", id="chatter between answers"),
        pytest.param("creative", Verdict.BAD_OUTPUT, "mood", id="an answer with other fields"),
        pytest.param("lazy", Verdict.BAD_OUTPUT, "20 positive times", id="fewer repeats than asked for"),
        pytest.param("impossible", Verdict.BAD_OUTPUT, "20 positive times", id="times of zero"),
        pytest.param("confused", Verdict.BAD_OUTPUT, "20 positive times", id="an answer to another question"),
        pytest.param("self-satisfied", Verdict.BAD_OUTPUT, "20 positive times", id="a failure that is ok"),
        pytest.param("incorrect", Verdict.INCORRECT, "off by 5.0e-01", id="a wrong result"),
        pytest.param("not finite", Verdict.INCORRECT, "not finite", id="a result that is no number"),
        pytest.param("out of memory", Verdict.OUT_OF_MEMORY, "CUDA out of memory", id="no memory"),
        pytest.param("forgetful", Verdict.ERROR, "torch has gone", id="torch removed in between"),
    ],
)
async def test_a_bad_run_is_a_value_and_every_other_run_is_measured(
    stage, monkeypatch, character, verdict, words
):
    hasty = dataclasses.replace(ARTICLE, deadline_s=1.0 if character == "hanging" else 60.0)
    suite = Suite(name="light", cases=(hasty, dataclasses.replace(hasty, name="next")), deadline_s=300)
    monkeypatch.setattr(runner_module, "SUITES", {"light": suite})
    results = (await stage.report(character)).results
    assert [r.verdict for r in results] == [Verdict.OK, verdict, Verdict.OK, verdict]
    assert words in results[1].detail
    assert results[1].summary is None
    assert any(words in line and "article/sdpa/cpu/float32" in line for line in stage.lines)


async def test_a_dead_worker_is_replaced_and_a_living_one_kept(stage):
    await stage.report("crashing", EVERYWHERE)
    assert len(stage.pids) == 2
    await stage.report("incorrect", EVERYWHERE)
    assert len(stage.pids) == 3


async def test_without_torch_there_are_no_results_and_one_line_says_so_once(stage):
    runner = stage.runner("torchless")
    for _ in range(3):
        report = await runner.run(EVERYWHERE)
        assert report.supported is False
        assert report.results == ()
    assert stage.lines == ["kernel benches are off, everything else runs: torch is not installed"]


async def test_a_device_that_is_not_there_is_nothing_and_said_once(stage):
    runner = stage.runner("well")
    plan = BenchPlan(suite="light", every_s=300, devices=("cuda:7", "cuda:0"))
    for _ in range(2):
        report = await runner.run(plan)
        assert report.absent == ("cuda:7",)
        assert {r.run.device for r in report.results} == {"cuda:0"}
    assert stage.lines == ["device cuda:7 is not there: no kernel bench on it"]


@pytest.mark.parametrize(
    ("character", "verdict", "words"),
    [
        pytest.param("stillborn", Verdict.CRASHED, "Illegal instruction", id="died while importing"),
        pytest.param("driverless", Verdict.ERROR, "driver too old", id="could not look for devices"),
        pytest.param("futuristic", Verdict.BAD_OUTPUT, "two versions", id="is of another version"),
    ],
)
async def test_a_worker_that_cannot_describe_fails_every_run_that_was_certain(
    stage, character, verdict, words
):
    report = await stage.report(character, EVERYWHERE)
    assert report.supported is None
    assert [r.run for r in report.results] == list(known_runs(EVERYWHERE))
    assert {r.verdict for r in report.results} == {verdict}
    assert all(words in r.detail for r in report.results)


async def test_a_worker_that_cannot_be_started_is_a_value(stage):
    async def start():
        return ChildEnd(ChildFault.NOT_STARTED, "no processes left")

    report = await stage.report("well", start=start)
    assert {r.verdict for r in report.results} == {Verdict.NOT_STARTED}


async def test_when_the_suites_time_is_used_up_the_rest_is_not_started(stage):
    clock = itertools.chain([0.0, 0.0], itertools.repeat(SUITES["light"].deadline_s))
    report = await stage.report("well", EVERYWHERE, monotonic_s=clock.__next__)
    assert [r.verdict for r in report.results] == [Verdict.OK] + [Verdict.NOT_STARTED] * 3


async def test_cancelling_a_run_leaves_no_worker(stage):
    task = asyncio.create_task(stage.runner("hanging").run(ON_CPU))
    while not stage.pids:  # noqa: ASYNC110 - the event is in another process
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(psutil.pid_exists(pid) for pid in stage.pids)


def test_the_time_for_importing_torch_is_granted_to_a_new_worker_only():
    asked = []

    class Patient:
        def send(self, message):
            pass

        async def receive(self, timeout_s):
            asked.append(timeout_s)
            return {"protocol": 1, "kind": "unsupported", "body": {"detail": ""}}

        async def stop(self):
            pass

    async def start():
        return Patient()

    async def twice():
        async with session_module.Session(start) as session:
            for _ in range(2):
                await session.ask(runner_module.Describe(), 5.0)

    asyncio.run(twice())
    assert asked == [5.0 + session_module.START_S, 5.0]


def test_every_child_fault_is_a_verdict():
    assert {fault.value for fault in ChildFault} <= {verdict.value for verdict in Verdict}


def test_the_article_is_reproduced_to_the_letter():
    shape = ARTICLE.shape
    assert (shape.dim, shape.heads, shape.batch, shape.query_len, shape.kv_len) == (512, 8, 4, 128, 128)
    assert (ARTICLE.warmup, ARTICLE.repeats, shape.causal) == (5, 20, False)


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES.keys())
def test_case_names_are_unique_in_a_suite(suite):
    assert len({case.name for case in suite.cases}) == len(suite.cases)


@pytest.mark.torch
async def test_the_real_worker_measures_the_article(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    report = await BenchRunner().run(ON_CPU)
    assert [(r.verdict, r.detail) for r in report.results] == [(Verdict.OK, "")] * 2
    naive, sdpa = report.results
    assert naive.measurement.backend is Backend.EAGER
    assert sdpa.measurement.backend is not Backend.EAGER
    assert naive.summary.n == sdpa.summary.n == 20
    assert 0 < naive.measurement.relative_error < 1e-5
    # Wall time contains the CPU time of one thread, whatever else the machine does.
    assert naive.wall_to_cpu_ratio > 0.9
    assert report.environment.threads == 1


@pytest.mark.torch
async def test_the_parent_never_imports_torch():
    code = (
        "import asyncio, sys\n"
        "from exporter.kernels.runner import BenchRunner\n"
        "from exporter.model.configuration import BenchPlan\n"
        "report = asyncio.run(BenchRunner().run(BenchPlan(suite='light', every_s=1, devices=('cpu',))))\n"
        "print(len(report.results), 'torch' in sys.modules, 'numpy' in sys.modules)\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().split() == ["2", "False", "False"]
