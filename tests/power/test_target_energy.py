"""Energy of what serves a target, and what it is held against."""

import pytest

from exporter.metrics.power_samples import tables
from exporter.model.efficiency import Efficiency
from exporter.model.power import Fault, GpuReading, Snapshot, Source
from exporter.model.power_plan import Electricity, Gpus, PowerFrom, Promql, Watts
from exporter.model.power_view import PowerView, TargetView, Work
from exporter.power.board import Board
from exporter.power.target_energy import TargetEnergy
from tests.metrics.builders import target


class StubRemote:
    def __init__(self) -> None:
        self.answer: float | None = None

    def watts(self, query: str) -> float | None:
        return self.answer


def account(source: PowerFrom) -> TargetEnergy:
    return TargetEnergy(target(), source)


def reading(uuid: str, at_s: float, **values: object) -> GpuReading:
    return GpuReading(**({"source": Source.NVML, "uuid": uuid, "at_s": at_s} | values))  # type: ignore[arg-type]


def seen(board: Board, *readings: GpuReading) -> None:
    board.take(Snapshot(at_s=readings[0].at_s, gpus=readings))


def shown(view: TargetView) -> dict[str, dict[tuple[str, ...], float]]:
    whole = PowerView(
        worker_up=True,
        restarts=(),
        sampled_unix_s=None,
        sources=(),
        gpus=(),
        zones=(),
        targets=(view,),
    )
    return {table.family.name: dict(table.rows) for table in tables(whole)}


def test_counters_are_added_up_and_a_gap_is_made_up_for() -> None:
    board, remote = Board(), StubRemote()
    it = account(Gpus(uuids=("GPU-a", "GPU-b")))
    seen(
        board, reading("GPU-a", 0, energy_j=1000, power_w=300), reading("GPU-b", 0, energy_j=50, power_w=200)
    )
    it.tick(0, board, remote)
    view = it.view(None)
    assert (view.watts, view.energy_j) == (500, 0)
    board.silence()
    it.tick(10, board, remote)
    assert it.view(None).watts is None
    seen(
        board,
        reading("GPU-a", 60, energy_j=4000, power_w=310),
        reading("GPU-b", 60, energy_j=950, power_w=210),
    )
    it.tick(60, board, remote)
    view = it.view(None)
    assert (view.watts, view.energy_j) == (520, 3900)


def test_a_driver_reload_loses_what_was_not_seen_and_nothing_falls() -> None:
    board, remote = Board(), StubRemote()
    it = account(Gpus(uuids=("GPU-a",)))
    for at_s, joules in ((0, 1000), (1, 1300), (2, 200), (3, 500)):
        seen(board, reading("GPU-a", at_s, energy_j=joules, power_w=300))
        it.tick(at_s, board, remote)
    assert it.view(None).energy_j == 800


def test_power_times_time_where_there_is_no_counter() -> None:
    board, remote = Board(), StubRemote()
    it = account(Gpus(uuids=("GPU-a",)))
    for at_s in (0, 1, 2, 100, 101):
        seen(board, reading("GPU-a", at_s, average_power_w=50))
        it.tick(at_s, board, remote)
    assert it.view(None).energy_j == 150


@pytest.mark.parametrize("gone", [Fault.LOST, Fault.HUNG])
def test_one_gpu_of_two_that_cannot_be_read_makes_the_power_unknown(gone: Fault) -> None:
    board, remote = Board(), StubRemote()
    it = account(Gpus(uuids=("GPU-a", "GPU-b")))
    seen(board, reading("GPU-a", 0, energy_j=1, power_w=300), reading("GPU-b", 0, fault=gone))
    it.tick(0, board, remote)
    found = shown(it.view(None))
    assert found["inference_target_power_up"] == {("prod", "llama"): 0.0}
    assert found["inference_target_power_watts"] == {}


def test_declared_watts_count_all_the_time() -> None:
    it = account(Watts(watts=700))
    for at_s in (0.0, 1.0, 31.0):
        it.tick(at_s, Board(), StubRemote())
    assert it.view(None).energy_j == 700 * 31


def test_remote_watts_count_while_they_are_fresh() -> None:
    board, remote = Board(), StubRemote()
    it = account(Promql(query="sum(node_power)"))
    it.tick(0, board, remote)
    assert it.view(None).watts is None
    remote.answer = 400
    for at_s in (1, 2, 3):
        it.tick(at_s, board, remote)
    remote.answer = None
    it.tick(4, board, remote)
    view = it.view(None)
    assert (view.watts, view.energy_j) == (None, 1200)


def test_probes_are_held_against_the_energy_of_their_window() -> None:
    board, remote = Board(), StubRemote()
    it = account(Watts(watts=100))
    for at_s in range(121):
        it.tick(float(at_s), board, remote)
        if at_s % 15 == 0:
            it.worked(tokens=60, requests=1)
    view = it.view(Electricity(per_kwh=0.36, currency="EUR"))
    ((work, efficiency),) = view.efficiencies
    assert work is Work.PROBES
    assert efficiency.joules == pytest.approx(12_000)
    assert efficiency.tokens == 480
    found = shown(view)
    who = ("prod", "llama", "probes")
    assert found["inference_target_energy_per_token_joules"] == {who: pytest.approx(25)}
    assert found["inference_target_tokens_per_joule"] == {who: pytest.approx(0.04)}
    assert found["inference_target_requests_per_watt"] == {who: pytest.approx(8 / 12_000)}
    cost = found["inference_target_electricity_cost_per_million_tokens"]
    assert cost == {(*who, "EUR"): pytest.approx(25e6 / 3.6e6 * 0.36)}


def test_what_was_served_while_the_power_was_unknown_counts_for_nothing() -> None:
    board, remote = Board(), StubRemote()
    it = account(Promql(query="up"))
    remote.answer = 100
    for at_s in range(100):
        it.tick(float(at_s), board, remote)
    remote.answer = None
    it.worked(tokens=1e6, requests=1)
    it.tick(100.0, board, remote)
    assert it.view(None).efficiencies == ()


def test_without_tokens_there_is_no_joule_per_token() -> None:
    board, remote = Board(), StubRemote()
    it = account(Watts(watts=100))
    for at_s in range(100):
        it.tick(float(at_s), board, remote)
    found = shown(it.view(Electricity(per_kwh=0.3, currency="USD")))
    assert found["inference_target_energy_per_token_joules"] == {}
    assert found["inference_target_electricity_cost_per_million_tokens"] == {}
    assert found["inference_target_tokens_per_joule"] == {("prod", "llama", "probes"): 0.0}


def test_a_load_run_has_a_series_of_its_own() -> None:
    it = account(Watts(watts=100))
    it.loaded(Efficiency(joules=7000, seconds=10, tokens=3500, requests=70))
    found = shown(it.view(None))
    assert found["inference_target_energy_per_token_joules"] == {("prod", "llama", "load"): 2.0}
    assert found["inference_target_requests_per_watt"] == {("prod", "llama", "load"): 0.01}
