import os

import pytest

from exporter.adapters import machine


@pytest.mark.parametrize(
    ("files", "affinity", "cores"),
    [
        pytest.param({}, 8, 8, id="no cgroup"),
        pytest.param({"cpu.max": "max 100000"}, 8, 8, id="no quota"),
        pytest.param({"cpu.max": "200000 100000"}, 64, 2, id="two of sixty-four processors"),
        pytest.param({"cpu.max": "50000 100000"}, 64, 1, id="half a processor"),
        pytest.param({"cpu.max": "800000 100000"}, 4, 4, id="affinity is less"),
        pytest.param({"cpu.max": "nonsense"}, 4, 4, id="nonsense"),
        pytest.param(
            {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 64, 3, id="version 1"
        ),
        pytest.param(
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
            64,
            64,
            id="version 1, no quota",
        ),
    ],
)
def test_threads_that_can_run_at_once(tmp_path, files, affinity, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert machine.usable_cores(tmp_path, affinity) == cores


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t: fpu\n", "AMD EPYC 7B13", id="x86"
        ),
        pytest.param("processor\t: 0\nBogoMIPS\t: 243.75\n", None, id="Arm has no model name"),
        pytest.param("", None, id="no /proc"),
    ],
)
def test_the_processor_has_a_name(text, name):
    assert machine.cpu_name(text) == (name or os.uname().machine)


@pytest.mark.parametrize(
    ("flags", "virtual"), [("fpu hypervisor sse", True), ("fpu sse", False), ("fpu hypervisors", False)]
)
def test_a_hypervisor_shows_in_the_flags(flags, virtual):
    assert machine.is_virtual(f"model name: x\nflags\t\t: {flags}\n") is virtual


def test_throttle_events_of_all_processors_are_counted(tmp_path):
    for cpu, kind, count in ((0, "core", 3), (0, "package", 4), (1, "core", 5)):
        folder = tmp_path / f"cpu{cpu}" / "thermal_throttle"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{kind}_throttle_count").write_text(f"{count}\n")
    assert machine.throttle_count(tmp_path) == 12
    assert machine.throttle_count(tmp_path / "cpu7") == 0


def test_memory_of_a_process(tmp_path):
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "statm").write_text("900 100 50 1 0 80 0\n")
    assert machine.resident_bytes(7, tmp_path) == 100 * os.sysconf("SC_PAGE_SIZE")
    assert machine.resident_bytes(8, tmp_path) is None


def test_this_machine_has_an_account_and_memory():
    first, second = machine.cpu_account(), machine.cpu_account()
    assert second.busy_s >= first.busy_s > 0
    assert first.cores >= 1
    assert machine.available_bytes() > 0
