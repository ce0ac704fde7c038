"""CPU packages from a powercap tree: which zones count, wraps, and what may not be read."""

import os
from pathlib import Path

import pytest

from exporter.adapters.rapl import Rapl
from exporter.metrics.power_samples import tables
from exporter.model.power import Fault, Scope, Snapshot
from exporter.model.power_view import PowerView
from exporter.power.board import Board

RANGE_UJ = 262_143_328_850
NOBODY = 65534


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def zone(root: Path, folder: str, name: str, energy_uj: int = 0, range_uj: int | None = RANGE_UJ) -> Path:
    place = root / folder
    place.mkdir(parents=True)
    (place / "name").write_text(f"{name}\n")
    (place / "energy_uj").write_text(f"{energy_uj}\n")
    if range_uj is not None:
        (place / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return place / "energy_uj"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two sockets as Linux shows them: zones beside and inside each other, and a second way to the first."""
    zone(tmp_path, "intel-rapl:0", "package-0", 5_000_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 7_000_000)
    zone(tmp_path, "intel-rapl:0:0", "core", 1_000_000)
    zone(tmp_path, "intel-rapl:0:1", "dram", 1_000_000)
    zone(tmp_path, "intel-rapl:0/intel-rapl:0:0", "core", 1_000_000)
    zone(tmp_path, "intel-rapl:2", "psys", 99_000_000)
    zone(tmp_path, "intel-rapl-mmio:0", "package-0", 5_000_000)
    (tmp_path / "intel-rapl").mkdir()
    return tmp_path


def energies(board: Board) -> dict[str, float | None]:
    return {each.zone: each.energy_j for each in board.zones}


def look(board: Board, rapl: Rapl, at_s: float) -> None:
    found = rapl.sample(processes=False)
    board.take(Snapshot(at_s=at_s, sources=(found.state,), zones=found.zones))


def test_packages_are_read_once_and_nothing_inside_or_around_them(tree: Path) -> None:
    found = Rapl(tree).sample(processes=False)
    assert found.state.fault is None
    assert [(z.zone, z.scope, z.energy_j) for z in found.zones] == [
        ("package-0", Scope.CPU_PACKAGE, 5.0),
        ("package-1", Scope.CPU_PACKAGE, 7.0),
    ]
    assert found.zones[0].wrap_j == pytest.approx(262_143.328_85)


def test_dies_of_a_package_are_zones_of_their_own(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0-die-0")
    zone(tmp_path, "intel-rapl:1", "package-0-die-1")
    found = Rapl(tmp_path).sample(processes=False)
    assert [z.zone for z in found.zones] == ["package-0-die-0", "package-0-die-1"]


def test_a_wrap_is_undone_and_the_exported_energy_never_falls(tmp_path: Path) -> None:
    counter = zone(tmp_path, "intel-rapl:0", "package-0", RANGE_UJ - 10_000_000)
    board, rapl = Board(), Rapl(tmp_path)
    look(board, rapl, 0)
    assert energies(board) == {"package-0": 0.0}
    counter.write_text(f"{RANGE_UJ - 4_000_000}\n")
    look(board, rapl, 1)
    assert energies(board)["package-0"] == pytest.approx(6.0)
    counter.write_text("3000000\n")
    look(board, rapl, 2)
    assert energies(board)["package-0"] == pytest.approx(13.0)


def test_a_gap_keeps_the_account_and_shows_nothing_meanwhile(tmp_path: Path) -> None:
    counter = zone(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    board, rapl = Board(), Rapl(tmp_path)
    look(board, rapl, 0)
    board.silence()
    assert board.zones == ()
    counter.write_text("9000000\n")
    look(board, rapl, 5)
    assert energies(board) == {"package-0": 8.0}


def test_what_may_not_be_read_is_absent_with_a_reason(tree: Path) -> None:
    clock = Clock()
    rapl, board = Rapl(tree, clock), Board()
    look(board, rapl, 0)
    for counter in tree.glob("*/energy_uj"):
        counter.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        found = rapl.sample(processes=False)
    finally:
        if is_root:
            os.seteuid(0)
    assert found.zones == ()
    assert found.state.fault is Fault.NO_PERMISSION
    assert "energy_uj" in found.state.detail
    assert "root only" in found.state.detail
    board.take(Snapshot(at_s=1, sources=(found.state,), zones=found.zones))
    shown = scrape(board)
    assert shown["inference_power_source_fault"] == {("rapl", "no_permission"): 1.0}
    assert shown["inference_power_sensor_energy_joules_total"] == {}


def test_a_host_without_packages_says_so(tmp_path: Path) -> None:
    found = Rapl(tmp_path / "nothing").sample(processes=False)
    assert found.state.fault is Fault.NO_DEVICE
    assert "virtual machines" in found.state.detail


def test_a_counter_that_is_no_number_costs_no_crash(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0").write_text("\n")
    zone(tmp_path, "intel-rapl:1", "package-1", 7_000_000)
    found = Rapl(tmp_path).sample(processes=False)
    assert [z.zone for z in found.zones] == ["package-1"]
    assert found.state.fault is Fault.UNKNOWN


def test_the_tick_of_a_package_is_found_and_other_meters_are_left_to_others(tree: Path) -> None:
    class MovingClock(Clock):
        """A counter that moves with every look at the clock."""

        def __call__(self) -> float:
            self.now_s += 0.0005
            (tree / "intel-rapl:0" / "energy_uj").write_text(f"{int(self.now_s * 1e6)}\n")
            return self.now_s

    rapl = Rapl(tree, MovingClock())
    rapl.sample(processes=False)
    (edge,) = rapl.edges(("package-0", "GPU-1"))
    assert edge.meter == "package-0"
    assert edge.ticked
    assert edge.energy_j == pytest.approx(edge.at_s, abs=0.01)


def scrape(board: Board) -> dict[str, dict[tuple[str, ...], float]]:
    view = PowerView(
        worker_up=True,
        restarts=(),
        sampled_unix_s=None,
        sources=board.sources,
        gpus=board.gpus,
        zones=board.zones,
        targets=(),
    )
    return {table.family.name: dict(table.rows) for table in tables(view)}
