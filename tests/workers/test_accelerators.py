"""Accelerators without one: the order of things, with events and graphs that are told what to say."""

import dataclasses

import pytest

pytestmark = pytest.mark.torch


def fake(log, *, cache=4096, device_ms=2.5, has_events=True, graph=None):
    from exporter.workers.accelerators.base import Accelerator

    class Event:
        def record(self):
            log.append("event")

        def elapsed_time(self, end_event):
            return device_ms

    class Fake(Accelerator):
        kind = "fake"

        def wait(self, device):
            log.append("wait")

        def event(self, device):
            return Event() if has_events else None

        def cache_bytes(self, device):
            return cache

        def graph(self, call, device):
            return graph

    return Fake()


def watch_of(log, monkeypatch, **character):
    import torch

    from exporter.workers.stopwatch import DeviceWatch

    watch = DeviceWatch(fake(log, **character), torch.device("cpu"))
    if watch._flush is not None:
        watch._flush = type("Flush", (), {"zero_": lambda self: log.append("flush")})()
    return watch


def test_the_cache_is_cleared_before_the_first_event_and_never_between_the_two(monkeypatch):
    from exporter.workers.stopwatch import Times

    log, times = [], Times()
    watch = watch_of(log, monkeypatch)
    for _ in range(2):
        watch.time(lambda: log.append("call"), times)
    assert log == ["wait", "flush", "event", "call", "event", "wait"] * 2
    assert times.device_s == [0.0025, 0.0025]
    assert len(times.wall_s) == len(times.cpu_s) == 2
    assert times.preemptions == []


def test_twice_the_real_cache_is_cleared():
    import torch

    from exporter.workers.stopwatch import DeviceWatch

    assert DeviceWatch(fake([], cache=1000), torch.device("cpu"))._flush.numel() == 2000
    assert DeviceWatch(fake([], cache=0), torch.device("cpu"))._flush is None


def test_without_events_wall_time_around_two_waits_counts(monkeypatch):
    from exporter.model.observation import TimeSource
    from exporter.workers.stopwatch import Times

    log, times = [], Times()
    watch = watch_of(log, monkeypatch, has_events=False)
    watch.time(lambda: log.append("call"), times)
    assert log == ["wait", "flush", "wait", "call", "wait"]
    assert watch.source is TimeSource.WALL
    assert times.device_s == []


@pytest.mark.parametrize(
    ("device_ms", "has_graph", "graphed"),
    [
        pytest.param(0.01, True, True, id="short, and there are graphs"),
        pytest.param(0.01, False, False, id="short, and it cannot be recorded"),
        pytest.param(2.5, True, False, id="long"),
    ],
)
def test_short_calls_are_replayed_from_a_graph(monkeypatch, device_ms, has_graph, graphed):
    def replay():
        return None

    def call():
        return None

    watch = watch_of([], monkeypatch, device_ms=device_ms, graph=replay if has_graph else None)
    assert watch.prepare(call) == ((replay, True) if graphed else (call, False))


def test_every_file_is_a_kind_and_those_that_are_not_here_find_nothing():
    import torch

    from exporter.workers.accelerators import kinds

    assert set(kinds()) == {"cuda", "mps", "xpu"}
    here = {"cuda": torch.cuda.is_available(), "xpu": torch.xpu.is_available()}
    here["mps"] = torch.backends.mps.is_available()
    assert {name: bool(kind.found()) for name, kind in kinds().items()} == here


def test_another_accelerator_is_one_more_file(monkeypatch, tmp_path):
    from exporter.workers import accelerators

    (tmp_path / "npu.py").write_text(
        "from exporter.workers.accelerators.base import Accelerator\n"
        "class Npu(Accelerator):\n    kind = 'npu'\nACCELERATOR = Npu()\n"
    )
    monkeypatch.setattr(accelerators, "__path__", [*accelerators.__path__, str(tmp_path)])
    assert set(accelerators.kinds()) == {"cuda", "mps", "npu", "xpu"}


def test_a_device_without_a_file_is_refused():
    import torch

    from exporter.workers import accelerators

    assert accelerators.of(torch.device("cpu")) is None
    with pytest.raises(ValueError, match="no accelerator 'meta'; there are: cuda"):
        accelerators.of(torch.device("meta"))


def test_a_gpu_is_described_by_torch_and_its_driver(monkeypatch):
    import torch

    from exporter.adapters.gpu_state import GpuState
    from exporter.workers.accelerators import cuda

    properties = type("Properties", (), {"uuid": "123", "L2_cache_size": 50 << 20})()
    asked = []
    state = GpuState(other_processes=1, power_limit_w=700.0, driver="570.1", lowered_ns={"thermal": 5})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "NVIDIA A100-SXM4-40GB MIG 1g.5gb")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    monkeypatch.setattr(cuda, "look", lambda uuid: asked.append(uuid) or state)
    (found,) = cuda.ACCELERATOR.found()
    assert asked == ["GPU-123"]
    assert (found.device, found.partition, found.driver, found.power_limit_w) == (
        "cuda:0",
        True,
        "570.1",
        700.0,
    )
    assert found.other_processes == 1
    assert cuda.ACCELERATOR.cache_bytes(torch.device("cuda:0")) == 50 << 20
    assert cuda.ACCELERATOR.others(torch.device("cuda:0")) == 1
    lowered = cuda.ACCELERATOR.lowered(torch.device("cuda:0"))
    monkeypatch.setattr(cuda, "look", lambda uuid: dataclasses.replace(state, lowered_ns={"thermal": 9}))
    assert lowered() == ("thermal",)


def test_a_call_that_cannot_be_recorded_has_no_graph(monkeypatch):
    import contextlib

    import torch

    from exporter.workers.accelerators import cuda

    class Stream:
        def wait_stream(self, other):
            pass

    def refuse(graph):
        raise RuntimeError("operation not permitted when stream is capturing")

    waited = []
    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", type("Graph", (), {"replay": "replay"}))
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: contextlib.nullcontext())
    assert cuda.ACCELERATOR.graph(lambda: None, torch.device("cuda:0")) == "replay"
    monkeypatch.setattr(torch.cuda, "graph", refuse)
    assert cuda.ACCELERATOR.graph(lambda: None, torch.device("cuda:0")) is None
    assert len(waited) == 1
