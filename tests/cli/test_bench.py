import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from exporter.cli.bench import FAILED, INTERRUPTED, NOTHING_MEASURED, bench, exit_code
from exporter.kernels.runfile import SCHEMA, run_file
from exporter.kernels.runner import BenchRunner
from exporter.kernels.suite import SUITES
from exporter.model.kernel import Backend, Dtype, Verdict
from exporter.model.observation import DeviceFound, Environment
from exporter.model.roofline import Bound, Ceilings, Peak, Placement
from tests.kernels import builders

ROOT = Path(__file__).parents[2]
FOUND = Environment(
    torch_version="2.13.0", threads=1, devices=(DeviceFound(device="cpu", name="[bold]EPYC"),)
)
PLACED = Placement(intensity=192.0, bound=Bound.COMPUTE, roofline_ratio=0.84, mfu=0.41, mbu=0.1)
CEILINGS = Ceilings(device="cpu", flops_per_second={Dtype.FLOAT32: 8e10}, bytes_per_second=1.3e10)


def good(run):
    seen = builders.measured(backend=Backend.EFFICIENT, wall=(0.03, 0.03), cpu=(0.02, 0.03))
    return builders.result(run, measurement=seen, placement=PLACED)


def report(suite="light", **changes):
    given = {
        "suite": suite,
        "results": tuple(good(run) for run in SUITES[suite].runs_on(("cpu",))),
        "environment": FOUND,
        "ceilings": (CEILINGS,),
        "peaks": (("cuda:0", Peak(flops_per_second={Dtype.TF32: 1e12}, source="operator")),),
        "fingerprints": (("cpu", "0123456789ab"),),
    }
    given |= changes
    return builders.report(*given.pop("results"), **given)


def failed(verdict, detail=""):
    first, *rest = report().results
    return report(
        results=(dataclasses.replace(first, verdict=verdict, detail=detail, measurement=None), *rest)
    )


TORCHLESS = report(
    supported=False, environment=None, results=(), detail="torch is not installed; pip install ..."
)
ABSENT = report(results=(), absent=("cuda:0",))


@pytest.fixture
def given(monkeypatch):
    """Give the command this report instead of measuring; what was asked for comes back."""
    asked = []

    def give(bench_report):
        async def run(self, plan):
            asked.append(plan)
            return bench_report

        monkeypatch.setattr(BenchRunner, "run", run)
        return asked

    return give


@pytest.mark.parametrize(
    ("bench_report", "status"),
    [
        pytest.param(report(), 0, id="all measured"),
        pytest.param(failed(Verdict.INCORRECT), FAILED, id="a wrong result"),
        pytest.param(failed(Verdict.TIMEOUT), FAILED, id="a hang"),
        pytest.param(failed(Verdict.CONTENDED), FAILED, id="a disturbed run"),
        pytest.param(failed(Verdict.PREDICTED_COST), 0, id="a run that was too much"),
        pytest.param(failed(Verdict.BACKEND_UNAVAILABLE), 0, id="a backend that is not there"),
        pytest.param(TORCHLESS, NOTHING_MEASURED, id="no torch"),
        pytest.param(ABSENT, NOTHING_MEASURED, id="no such device"),
        pytest.param(report(absent=("cuda:0",)), 0, id="one of two devices"),
    ],
)
def test_the_exit_status_tells_a_script_what_happened(given, bench_report, status):
    given(bench_report)
    assert exit_code(bench_report) == status
    assert CliRunner().invoke(bench, []).exit_code == status


def test_the_table_fits_eighty_columns_with_the_longest_values(given):
    verdicts = itertools.cycle([Verdict.OK, Verdict.OK, Verdict.BACKEND_UNAVAILABLE])
    times = itertools.cycle([(1.25e-5, 1.3e-5), (1.0, 30.0)])
    results = tuple(
        builders.result(
            run,
            next(verdicts),
            builders.measured(backend=Backend.OVERRIDEABLE, device=next(times), cpu=(1.0, 1.0)),
            placement=dataclasses.replace(PLACED, roofline_ratio=1.0),
        )
        for run in SUITES["nightly"].runs_on(("cuda:11",))
    )
    given(report("nightly", results=results, ceilings=()))
    out = CliRunner().invoke(bench, ["--suite", "nightly"]).stdout
    table = out[: out.index("/cuda:11/")]
    assert "…" not in table
    assert max(map(len, table.splitlines()[:-1])) <= 80
    for word in (
        "sdpa_efficient",
        "overrideable",
        "backend_unavailable",
        "float8_e4m3",
        "prefill_8192_causal",
    ):
        assert word in table


def test_a_row_has_median_spread_rate_and_place(given):
    given(report())
    row = next(line for line in CliRunner().invoke(bench, []).stdout.splitlines() if "naive" in line)
    assert row.split() == ["naive", "25.00", "20.0%", "20.5k", "84%", "41%", "efficient", "yes"]


@pytest.mark.parametrize(
    ("bench_report", "words"),
    [
        pytest.param(TORCHLESS, "torch is not installed", id="no torch is said"),
        pytest.param(ABSENT, "cuda:0: not there", id="an absent device is said"),
        pytest.param(
            failed(Verdict.CRASHED, "died of SIGSEGV [x]"),
            "crashed: died of SIGSEGV [x]",
            id="a crash is said",
        ),
        pytest.param(report(), "cpu = [bold]EPYC", id="a name is printed as it is"),
        pytest.param(report(), "ceilings of cpu: float32 80.0GFLOP/s, copy 13.0GB/s", id="the ceilings"),
        pytest.param(report(), "article, cpu, float32, 1.2GFLOP, 192 FLOP/B, compute bound", id="the work"),
    ],
)
def test_the_reader_is_told(given, bench_report, words):
    given(bench_report)
    assert words in CliRunner().invoke(bench, []).stdout


def test_json_is_the_documented_schema_and_the_file_is_the_same(given, tmp_path):
    asked = given(failed(Verdict.CRASHED, "died"))
    out = tmp_path / "run.json"
    done = CliRunner().invoke(bench, ["--json", "--device", "cpu", "--device", "cpu", "--out", str(out)])
    printed = json.loads(done.stdout)
    assert json.loads(out.read_text()) == printed
    assert asked[0].devices == ("cpu",)
    assert printed["schema"] == SCHEMA
    dead, alive = printed["results"][0], next(r for r in printed["results"] if r["case"] == "article")
    assert (dead["verdict"], dead["detail"], dead["median_s"], dead["backend"]) == (
        "crashed",
        "died",
        None,
        None,
    )
    assert alive["median_s"] == pytest.approx(0.025)
    assert alive["clock"] == "process_cpu"
    assert alive["times_s"] == {"wall": [0.03, 0.03], "cpu": [0.02, 0.03], "device": [], "preemptions": []}
    assert (alive["bound"], alive["roofline_ratio"]) == ("compute", 0.84)
    assert printed["ceilings"][0]["flops_per_second"] == {"float32": 8e10}
    assert alive["shape"]["dim"] == 512


def test_every_field_of_the_schema_is_documented():
    from exporter.kernels import runfile

    written = run_file(report())
    parts = [
        written,
        written["environment"],
        *(written[name][0] for name in ("results", "ceilings", "peaks")),
    ]
    fields = {field for part in (*parts, written["environment"]["devices"][0]) for field in part}
    assert [field for field in fields if f"``{field}``" not in runfile.__doc__] == []
    page = (ROOT / "docs" / "kernels.md").read_text()
    assert [field for field in fields if f"`{field}`" not in page and f'"{field}"' not in page] == []


def test_every_verdict_and_suite_is_in_the_documentation():
    page = (ROOT / "docs" / "kernels.md").read_text()
    assert [name for name in (*Verdict, *SUITES) if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(
            ["--suite", "daily"],
            "there is no suite 'daily'; there are: light, hourly, nightly, once",
            id="suite",
        ),
        pytest.param(["--device", "gpu0"], "'gpu0' is no device; write cpu or cuda:0", id="device"),
        pytest.param(["--device", "cuda:0,cpu"], "is no device", id="two devices in one"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_is_right(arguments, words):
    done = CliRunner().invoke(bench, arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_file_that_cannot_be_written_is_said_with_the_next_step(given, tmp_path):
    given(report())
    done = CliRunner().invoke(bench, ["--out", str(tmp_path / "no" / "run.json")])
    assert done.exit_code == 1
    assert "No such file or directory; choose another path with --out" in done.stderr


def test_help_imports_neither_torch_nor_asyncio_nor_rich():
    code = (
        "import sys; from exporter.cli.bench import bench; "
        "print([m for m in ('torch', 'rich', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_an_interrupt_leaves_no_worker_and_says_so(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import time\ntime.sleep(600)\n")
    with subprocess.Popen(
        [sys.executable, "-c", "from exporter.cli.bench import bench; bench()"],
        env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        parent, end = psutil.Process(command.pid), time.monotonic() + 60
        while not (workers := parent.children()) and time.monotonic() < end:
            time.sleep(0.02)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
    assert command.returncode == INTERRUPTED
    assert out == ""
    assert "interrupted; the worker is gone" in err
    assert workers
    assert not any(worker.is_running() for worker in workers)
