import json

import pytest

from exporter.model.power import (
    Fault,
    GpuAbout,
    GpuProcess,
    GpuReading,
    Scope,
    Snapshot,
    Source,
    SourceState,
    Throttle,
    Throttled,
    Xid,
    ZoneReading,
)
from exporter.model.power_protocol import (
    Edge,
    EdgeFound,
    Edges,
    Garbled,
    Pace,
    order_from_json,
    to_json,
    word_from_json,
)

FULL = Snapshot(
    at_s=1.5,
    sources=(SourceState(source=Source.NVML, fault=Fault.HUNG, detail="x"),),
    gpus=(
        GpuReading(
            source=Source.NVML,
            uuid="GPU-1",
            at_s=1.0,
            about=GpuAbout(index=0, name="H100", driver="580", mig=None),
            throttles=(Throttle.IDLE,),
            throttled=(Throttled(reason=Throttle.SW_THERMAL, seconds=2.0),),
            processes=(GpuProcess(pid=1, memory_bytes=2),),
        ),
    ),
    zones=(ZoneReading(source=Source.RAPL, zone="package-0", scope=Scope.CPU_PACKAGE, at_s=1.0),),
    xids=(Xid(uuid="GPU-1", code=79, unix_s=3.0),),
)
EDGES = Edges(number=3, found=(EdgeFound(meter="m", at_s=1.0, within_s=0.001, energy_j=None, ticked=False),))


@pytest.mark.parametrize("word", [FULL, Snapshot(at_s=0.0), EDGES], ids=["full", "empty", "edges"])
def test_what_the_worker_says_survives_the_way(word: Snapshot | Edges) -> None:
    assert word_from_json(json.loads(json.dumps(to_json(word)))) == word


@pytest.mark.parametrize("order", [Pace(every_s=0.1, processes=True), Edge(number=1, meters=("a", "b"))])
def test_orders_survive_the_way(order: Pace | Edge) -> None:
    assert order_from_json(json.loads(json.dumps(to_json(order)))) == order


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([], id="no object"),
        pytest.param({"power": 2, "kind": "snapshot", "body": {}}, id="another version"),
        pytest.param({"power": 1, "kind": "pace", "body": {}}, id="an order from the wrong end"),
        pytest.param({"power": 1, "kind": "snapshot", "body": {"at_s": 1}}, id="fields missing"),
        pytest.param(
            to_json(FULL) | {"body": {**to_json(FULL)["body"], "at_s": "1"}}, id="text for a number"
        ),
    ],
)
def test_what_is_not_of_this_protocol_is_garbled(data: object) -> None:
    assert isinstance(word_from_json(data), Garbled)
