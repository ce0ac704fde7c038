import asyncio
import dataclasses
import itertools
import os
import sys

import pytest

from exporter.adapters.child import ChildEnd, ChildFault
from exporter.kernels import runner as runner_module
from exporter.kernels import session as session_module
from exporter.kernels.cases import ARTICLE
from exporter.kernels.runner import BenchRunner
from exporter.kernels.suite import SUITES, known_runs
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import Backend, Dtype, Verdict
from exporter.model.roofline import Peak
from tests.kernels.stage import EVERYWHERE, ON_CPU, PLAIN, ROOT, TWO


async def test_one_worker_answers_for_every_variant_on_every_device(stage, only):
    only(PLAIN)
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
    clock = (10.0 + i / 1000 for i in itertools.count())
    report = await stage.report("well", monotonic_s=clock.__next__, unix_s=lambda: 1e9)
    assert report.seconds > 0
    assert report.finished_unix_s == 1e9


@pytest.mark.parametrize(
    ("character", "verdict", "words"),
    [
        pytest.param("crashing", Verdict.CRASHED, "SIGABRT", id="a crash"),
        pytest.param("hanging", Verdict.TIMEOUT, "no answer within", id="a hang"),
        pytest.param("chatty", Verdict.BAD_OUTPUT, "loading kernels", id="chatter between answers"),
        pytest.param("creative", Verdict.BAD_OUTPUT, "mood", id="an answer with other fields"),
        pytest.param(
            "lazy", Verdict.BAD_OUTPUT, "20 positive times", id="fewer of one clock than of another"
        ),
        pytest.param("impossible", Verdict.BAD_OUTPUT, "20 positive times", id="times of zero"),
        pytest.param("self-satisfied", Verdict.BAD_OUTPUT, "20 positive times", id="ok, without a time"),
        pytest.param("incorrect", Verdict.INCORRECT, "off by 5.0e-01", id="a wrong result"),
        pytest.param("not finite", Verdict.INCORRECT, "not finite", id="a result that is no number"),
        pytest.param("out of memory", Verdict.OUT_OF_MEMORY, "CUDA out of memory", id="no memory"),
    ],
)
async def test_a_bad_variant_is_a_value_and_every_other_is_measured(stage, only, character, verdict, words):
    hasty = dataclasses.replace(ARTICLE, deadline_s=0.5 if character == "hanging" else 60.0)
    only(dataclasses.replace(TWO, on_cpu=(hasty, dataclasses.replace(hasty, name="next"))))
    results = (await stage.report(character)).results
    assert [r.verdict for r in results] == [Verdict.OK, verdict, Verdict.OK, verdict]
    assert words in results[1].detail
    assert results[1].summary is None
    assert any(words in line and "article/sdpa/cpu/float32" in line for line in stage.lines)


@pytest.mark.parametrize(
    ("character", "verdict", "words"),
    [
        pytest.param("confused", Verdict.BAD_OUTPUT, "none to this question", id="another question's answer"),
        pytest.param("forgetful", Verdict.ERROR, "torch has gone", id="torch removed in between"),
        pytest.param(
            "absent-minded", Verdict.BAD_OUTPUT, "leaves this variant out", id="nothing of a variant"
        ),
    ],
)
async def test_an_answer_that_is_none_is_a_value_for_every_variant(stage, only, character, verdict, words):
    only(PLAIN)
    results = (await stage.report(character)).results
    assert [r.verdict for r in results] == [verdict] * 2
    assert all(words in r.detail for r in results)


@pytest.mark.parametrize(
    ("character", "verdict"), [("contended", Verdict.CONTENDED), ("costly", Verdict.PREDICTED_COST)]
)
async def test_a_disturbed_run_has_no_time_and_is_no_line_in_the_log(stage, only, character, verdict):
    only(PLAIN)
    report = await stage.report(character)
    assert report.results[1].verdict is verdict
    assert report.results[1].summary is None
    assert stage.lines == []


async def test_a_dead_worker_is_replaced_and_a_living_one_kept(stage, only):
    only(PLAIN)
    await stage.report("crashing")
    # The first dies over both variants, the second answers for one, dies over the other.
    assert len(stage.pids) == 2
    await stage.report("incorrect")
    assert len(stage.pids) == 3


async def test_a_fresh_suite_has_a_worker_for_each_case(stage, only):
    only(dataclasses.replace(TWO, fresh=True))
    report = await stage.report("well")
    assert [r.verdict for r in report.results] == [Verdict.OK] * 4
    # One describes the devices, and goes on with the first case.
    assert len(stage.pids) == 2


async def test_without_torch_there_are_no_results_and_one_line_says_so_once(stage):
    runner = stage.runner("torchless")
    for _ in range(3):
        report = await runner.run(EVERYWHERE)
        assert report.supported is False
        assert report.results == ()
    await runner.aclose()
    assert stage.lines == ["kernel benches are off, everything else runs: torch is not installed"]


async def test_a_device_that_is_not_there_is_nothing_and_said_once(stage, only):
    only(PLAIN)
    runner = stage.runner("well")
    plan = BenchPlan(suite="light", every_s=300, devices=("cuda:7", "cuda:0"))
    for _ in range(2):
        report = await runner.run(plan)
        assert report.absent == ("cuda:7",)
        assert {r.run.device for r in report.results} == {"cuda:0"}
    await runner.aclose()
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
    async def start(threads):
        return ChildEnd(ChildFault.NOT_STARTED, "no processes left")

    report = await stage.report("well", start=start)
    assert {r.verdict for r in report.results} == {Verdict.NOT_STARTED}


async def test_when_the_suites_time_is_used_up_the_rest_is_not_started(stage, only):
    only(TWO)
    now = [0.0]

    def progress(what):
        if what.startswith("next"):
            now[0] = PLAIN.deadline_s

    report = await stage.report("well", monotonic_s=lambda: now[0], progress=progress)
    assert [r.verdict for r in report.results] == [Verdict.OK] * 2 + [Verdict.NOT_STARTED] * 2


async def test_cancelling_a_run_leaves_no_worker(stage):
    task = asyncio.create_task(stage.runner("hanging").run(ON_CPU))
    while not stage.pids:  # noqa: ASYNC110 - the event is in another process
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.alive == []


async def test_a_known_device_has_its_peak_and_the_operator_the_last_word(stage, only):
    only(PLAIN)
    report = await stage.report("well", EVERYWHERE)
    assert dict(report.peaks)["cuda:0"].source == "third_party"
    assert report.results[3].placement.mfu == pytest.approx(1_207_959_552 / 0.001 / 67e12)
    own = Peak(flops_per_second={Dtype.FLOAT32: 1e12}, source="operator")
    slow = dataclasses.replace(EVERYWHERE, peaks={"NVIDIA H200": own})
    report = await stage.report("well", slow)
    assert report.results[3].verdict is Verdict.OVER_PEAK
    assert report.results[3].placement is None


async def test_threads_are_asked_for(stage):
    await stage.report("well", dataclasses.replace(ON_CPU, threads=2))
    assert stage.threads == [2]


async def test_no_more_threads_are_started_than_can_run_at_once(monkeypatch):
    started = []

    async def start_child(module, *arguments, environment):
        started.append(environment["OMP_NUM_THREADS"])
        return ChildEnd(ChildFault.NOT_STARTED, "")

    monkeypatch.setattr(runner_module, "start_child", start_child)
    monkeypatch.setattr(runner_module.machine, "usable_cores", lambda: 2)
    for threads in (1, 2, 64):
        await runner_module.start_worker(threads)
    assert started == ["1", "2", "2"]


def test_the_time_for_importing_torch_is_granted_to_a_new_worker_only():
    asked = []

    class Patient:
        pid = 1

        def send(self, message):
            pass

        async def receive(self, timeout_s):
            asked.append(timeout_s)
            return {"protocol": 2, "kind": "unsupported", "body": {"detail": ""}}

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


@pytest.mark.torch
async def test_the_real_worker_measures_the_light_suite(monkeypatch, only):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    patient = (dataclasses.replace(case, budget_s=60.0, deadline_s=90.0) for case in SUITES["light"].on_cpu)
    only(dataclasses.replace(SUITES["light"], on_cpu=tuple(patient), deadline_s=110.0))
    runner = BenchRunner()
    report = await runner.run(ON_CPU)
    await runner.aclose()
    calm = {Verdict.OK, Verdict.CONTENDED, Verdict.TOO_FEW_SAMPLES, Verdict.THROTTLED}
    assert {r.verdict for r in report.results} <= calm, [r.detail for r in report.results]
    naive, sdpa = (r for r in report.results if r.run.case.name == "article")
    assert naive.measurement.backend is Backend.EAGER
    assert sdpa.measurement.backend is not Backend.EAGER
    assert len(naive.measurement.cpu_s) == len(sdpa.measurement.cpu_s)
    assert 0 < naive.measurement.relative_error < 1e-5
    assert report.environment.threads == 1


@pytest.mark.torch
async def test_the_parent_never_imports_torch():
    code = (
        "import asyncio, sys\n"
        "from exporter.kernels.runner import BenchRunner\n"
        "from exporter.model.configuration import BenchPlan\n"
        "async def main():\n"
        "    runner = BenchRunner()\n"
        "    report = await runner.run(BenchPlan(suite='light', every_s=1, devices=('cpu',)))\n"
        "    await runner.aclose()\n"
        "    print(len(report.results), 'torch' in sys.modules, 'numpy' in sys.modules)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().split() == ["5", "False", "False"]
