"""Power sensors from a hwmon tree."""

from pathlib import Path

import pytest

from exporter.adapters.hwmon import Hwmon
from exporter.model.power import Fault, Scope


def chip(root: Path, number: int, name: str, address: str, **files: object) -> Path:
    device = root / "devices" / address
    device.mkdir(parents=True, exist_ok=True)
    folder = root / "class" / f"hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "device").symlink_to(device)
    (folder / "name").write_text(f"{name}\n")
    for file, value in files.items():
        (folder / file).write_text(f"{value}\n")
    return folder


def test_an_intel_gpu_has_energy_and_an_amd_gpu_power(tmp_path: Path) -> None:
    chip(tmp_path, 3, "xe", "0000:03:00.0", energy1_input=123_000_000, energy1_label="card")
    chip(tmp_path, 4, "amdgpu", "0000:0b:00.0", power1_average=31_000_000, power1_input=99_000_000)
    found = Hwmon(tmp_path / "class").sample(processes=False)
    assert [(z.zone, z.scope, z.power_w, z.energy_j) for z in found.zones] == [
        ("xe 0000:03:00.0 card", Scope.BOARD, None, 123.0),
        ("amdgpu 0000:0b:00.0 power1", Scope.BOARD, 31.0, None),
    ]
    assert found.state.fault is None


def test_a_jetson_rail_is_its_voltage_times_its_current(tmp_path: Path) -> None:
    chip(
        tmp_path,
        0,
        "ina3221",
        "1-0040",
        in1_label="VDD_GPU_SOC",
        in1_input=19_000,
        curr1_input=1_500,
        in2_label="VDD_CPU_CV",
        in2_input=19_000,
        curr2_input=400,
        in7_input=5,
    )
    found = Hwmon(tmp_path / "class").sample(processes=False)
    assert [(z.zone, z.scope) for z in found.zones] == [
        ("ina3221 1-0040 VDD_GPU_SOC", Scope.RAIL),
        ("ina3221 1-0040 VDD_CPU_CV", Scope.RAIL),
    ]
    assert [z.power_w for z in found.zones] == [pytest.approx(28.5), pytest.approx(7.6)]


def test_the_machine_has_a_meter_and_other_chips_are_left_alone(tmp_path: Path) -> None:
    chip(tmp_path, 0, "power_meter", "ACPI000D:00", power1_average=412_000_000)
    chip(tmp_path, 1, "nvme", "nvme0", power1_input=5_000_000)
    found = Hwmon(tmp_path / "class").sample(processes=False)
    assert [(z.scope, z.power_w) for z in found.zones] == [(Scope.MACHINE, 412.0)]


def test_a_sensor_that_cannot_be_read_is_absent(tmp_path: Path) -> None:
    folder = chip(tmp_path, 0, "amdgpu", "0000:0b:00.0", power1_average=31_000_000)
    hwmon = Hwmon(tmp_path / "class")
    assert len(hwmon.sample(processes=False).zones) == 1
    (folder / "power1_average").write_text("")
    found = hwmon.sample(processes=False)
    assert found.zones == ()
    assert found.state.fault is Fault.NO_DEVICE


def test_the_tick_of_an_energy_sensor_is_looked_for(tmp_path: Path) -> None:
    chip(tmp_path, 3, "xe", "0000:03:00.0", energy1_input=123_000_000)
    hwmon = Hwmon(tmp_path / "class")
    hwmon.sample(processes=False)
    (edge,) = hwmon.edges(("xe 0000:03:00.0 energy1", "elsewhere"))
    assert edge.energy_j == 123.0
    assert not edge.ticked
