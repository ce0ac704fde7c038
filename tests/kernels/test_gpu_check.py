"""The script for machines with a GPU, as far as it goes without one."""

import ctypes
import itertools
import shutil
import subprocess
import sys

import pytest

from benchmarks import gpu_check
from benchmarks.energy_counter import EnergyCounter
from exporter.model.kernel import Verdict
from exporter.model.observation import DeviceFound
from exporter.model.roofline import Placement
from tests.kernels import builders
from tests.kernels.stage import ROOT


class Library:
    """A driver whose counter moves by 30 J every fourth time it is asked."""

    def __init__(self, supports_energy=True, status=0):
        self.asked = itertools.count()
        self.supports_energy = supports_energy
        self.status = status

    def nvmlInit_v2(self):  # noqa: N802 - the driver's name
        return self.status

    def nvmlDeviceGetHandleByIndex_v2(self, index, handle):  # noqa: N802
        return 0

    def nvmlDeviceGetTotalEnergyConsumption(self, handle, value):  # noqa: N802
        ctypes.cast(value, ctypes.POINTER(ctypes.c_ulonglong))[0] = 30_000 * (next(self.asked) // 4)
        return 0 if self.supports_energy else 3

    def nvmlDeviceGetPowerUsage(self, handle, value):  # noqa: N802
        ctypes.cast(value, ctypes.POINTER(ctypes.c_uint))[0] = 300_000
        return 0


async def test_every_step_of_the_counter_is_seen_once():
    counter = EnergyCounter(Library(), 0, "cuda:0")
    assert counter.covers("cuda:0")
    ticks = await counter.ticks("cuda:0", 0.3)
    joules = [tick.joules for tick in ticks]
    assert joules == [30.0 * (i + 1) for i in range(len(joules))]
    assert len(joules) > 2
    assert counter.checks[0][1] == pytest.approx(300)


@pytest.mark.parametrize(
    ("library", "device"),
    [
        pytest.param(Library(), "cpu", id="another device"),
        pytest.param(Library(supports_energy=False), "cuda:0", id="a GPU without a counter"),
        pytest.param(Library(status=9), "cuda:0", id="a driver that is not loaded"),
    ],
)
def test_what_has_no_counter_is_not_covered(library, device):
    assert not EnergyCounter(library, 0, "cuda:0").covers(device)


def test_the_table_has_a_cell_for_every_heading_whatever_the_verdict():
    placed = Placement(intensity=1.0, bound=None, roofline_ratio=None, mfu=0.5, mbu=None)
    results = (
        builders.result(placement=placed),
        builders.result(verdict=Verdict.CRASHED, detail="died"),
        builders.result(
            measurement=builders.measured(relative_error=None, **builders.UNTIMED), verdict=Verdict.INCORRECT
        ),
    )
    table = [
        line
        for line in gpu_check.page(builders.report(*results), "cuda:0", None).splitlines()
        if line[:1] == "|"
    ]
    assert len(table) == 2 + len(results)
    assert {line.count("|") for line in table} == {13}


def test_it_fits_into_five_minutes_and_names_no_case_twice():
    labels = [run.labels for run in gpu_check.SUITE.runs_on(("cuda:0",))]
    assert len(labels) == len(set(labels))
    assert gpu_check.SUITE.deadline_s < 300


def test_it_needs_the_standard_library_only():
    code = (
        "import sys; import benchmarks.gpu_check; "
        "known = set(sys.stdlib_module_names) | {'exporter', 'benchmarks'}; "
        "print({m.split('.')[0] for m in sys.modules} - known)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert eval(done.stdout) <= {"__main__"}


def test_a_python_that_is_too_old_is_told_so(tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    script = [shutil.which("sh"), str(ROOT / "benchmarks" / "gpu_check.sh")]
    done = subprocess.run(
        script,
        env={"PYTHON": str(old), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "3.11 or later" in done.stderr) == (2, True)


def test_a_device_is_described(monkeypatch):
    found = builders.FOUND
    assert isinstance(found.devices[1], DeviceFound)
    assert "- cuda:0: H200, driver -, -" in gpu_check.page(builders.report(), "cuda:0", None)
