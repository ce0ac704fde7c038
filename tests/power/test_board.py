"""What is remembered of devices: health, idle watts, the counter against polled power."""

import pytest

from exporter.model.power import Fault, GpuReading, Snapshot, Source, SourceState, Xid
from exporter.power import board as board_module
from exporter.power.board import Board
from exporter.power.gpu_record import CROSS_CHECK_S, IDLE_S, MAX_CODES


def reading(at_s: float, **values: object) -> GpuReading:
    return GpuReading(**({"source": Source.NVML, "uuid": "GPU-a", "at_s": at_s} | values))  # type: ignore[arg-type]


def seen(board: Board, *readings: GpuReading, **parts: object) -> None:
    board.take(Snapshot(at_s=0.0, gpus=readings, **parts))  # type: ignore[arg-type]


def test_idle_watts_come_from_a_stretch_without_use_and_stay_until_the_next() -> None:
    board = Board()
    joules = 0.0
    for second in range(int(IDLE_S)):
        seen(board, reading(second, energy_j=joules, utilization=0.0))
        joules += 70
    assert board.gpus[0].idle_w is None
    seen(board, reading(IDLE_S, energy_j=joules, utilization=0.0))
    assert board.gpus[0].idle_w == pytest.approx(70)
    seen(board, reading(IDLE_S + 1, energy_j=joules + 700, utilization=1.0))
    assert board.gpus[0].idle_w == pytest.approx(70)
    seen(board, reading(IDLE_S + 2, fault=Fault.LOST))
    assert board.gpus[0].idle_w is None


def test_a_busy_second_breaks_an_idle_stretch() -> None:
    board = Board()
    for second in range(30):
        busy = second % 9 == 8
        seen(board, reading(second, energy_j=second * 70.0, utilization=0.5 if busy else 0.0))
    assert board.gpus[0].idle_w is None


def test_a_counter_that_tells_another_story_than_the_power_is_shown() -> None:
    board = Board()
    for second in range(int(CROSS_CHECK_S)):
        seen(board, reading(second, energy_j=second * 37.4, power_w=65.4))
        assert board.gpus[0].disagreement is None
    seen(board, reading(CROSS_CHECK_S, energy_j=CROSS_CHECK_S * 37.4, power_w=65.4))
    assert board.gpus[0].disagreement == pytest.approx(37.4 / 65.4 - 1)


@pytest.mark.parametrize("spoiled", ["fault", "reset"])
def test_a_comparison_does_not_span_a_gap_or_a_driver_reload(spoiled: str) -> None:
    board = Board()
    for second in range(90):
        if spoiled == "fault" and second == 45:
            seen(board, reading(second, fault=Fault.HUNG))
            continue
        base = 1000.0 if spoiled == "reset" and second < 45 else 0.0
        seen(board, reading(second, energy_j=base + second * 100.0, power_w=100.0))
    assert board.gpus[0].disagreement is None


def test_faults_are_counted_when_they_appear_and_recoveries_when_they_clear() -> None:
    board = Board()
    for fault in (None, Fault.LOST, Fault.LOST, Fault.HUNG, None, Fault.LOST, None):
        seen(board, reading(0, fault=fault))
    health = board.gpus[0].health
    assert dict(health.faults) == {Fault.LOST: 2, Fault.HUNG: 1}
    assert health.recoveries == 2


def test_a_gpu_that_is_in_no_snapshot_any_more_is_lost() -> None:
    board = Board()
    seen(board, reading(0, power_w=100))
    seen(board)
    assert board.gpus[0].health.fault is Fault.LOST
    assert board.gpus[0].reading is None


def test_silence_takes_every_value_and_keeps_the_past() -> None:
    board = Board()
    state = SourceState(source=Source.NVML)
    seen(
        board, reading(0, watches_xid=True), sources=(state,), xids=(Xid(uuid="GPU-a", code=79, unix_s=5.0),)
    )
    board.silence()
    (gpu,) = board.gpus
    assert (gpu.reading, gpu.xids) == (None, None)
    assert gpu.last_xids == ((79, 5.0),)
    assert board.sources[0].health.fault is Fault.WORKER


def test_what_a_driver_makes_up_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_module, "MAX_GPUS", 2)
    board = Board()
    seen(board, *(reading(0, uuid=f"GPU-{i}") for i in range(5)))
    assert len(board.gpus) == 2
    seen(
        board,
        reading(0, uuid="GPU-0", watches_xid=True),
        xids=tuple(Xid(uuid="GPU-0", code=i, unix_s=1.0) for i in range(500)),
    )
    assert len(board.gpus[0].last_xids) == MAX_CODES
    assert board.gpus[0].xids == 500
