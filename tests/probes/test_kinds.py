"""What every probe kind owes, held for each entry of the registry."""

import pytest
from pydantic import BaseModel, ValidationError

from exporter.model.clocks import Clock
from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault
from exporter.probes import KINDS
from exporter.probes.base import ProbeKind
from tests.model.streams import answered
from tests.probes.specs import FakeApi, doors, spec, target

EACH_KIND = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


def test_the_registry_is_keyed_by_name() -> None:
    assert KINDS
    assert all(name == kind.name for name, kind in KINDS.items())


@EACH_KIND
def test_params_have_defaults_are_frozen_and_refuse_unknown_keys(kind: ProbeKind) -> None:
    params = kind.params()
    assert params == kind.params()
    first = next(iter(type(params).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(params, first, getattr(params, first))
    with pytest.raises(ValidationError, match="Extra inputs"):
        kind.params(no_such_parameter=1)


@EACH_KIND
def test_clocks_come_from_the_closed_set_and_hold_end_to_end(kind: ProbeKind) -> None:
    clocks = kind.clocks(kind.params())
    assert clocks <= set(Clock)
    assert Clock.E2E in clocks


@EACH_KIND
@pytest.mark.parametrize("fault", Fault)
async def test_a_fault_is_a_value_reported_once(kind: ProbeKind, fault: Fault) -> None:
    api = FakeApi(answered(status=None, content_type=None, fault=fault, peer=None))
    probe, where = spec(kind.name), target()
    result = await kind.run(where, probe, doors(api))
    assert len(api.requests) == 1
    assert result.outcome is not Outcome.OK
    assert result.detail
    assert (result.target, result.spec) == (where, probe)
    assert result.finished_unix_s == 1_700_000_000.0
    assert (result.reused, result.stamps, result.status) == (None, None, None)
    assert result.timing.e2e is None


@EACH_KIND
async def test_foreign_params_are_refused(kind: ProbeKind) -> None:
    class Foreign(BaseModel):
        pass

    api = FakeApi(answered())
    with pytest.raises(TypeError, match="Params"):
        kind.clocks(Foreign())
    with pytest.raises(TypeError, match="Params"):
        await kind.run(target(), spec(kind.name, params=Foreign(), clocks=frozenset()), doors(api))
    assert api.requests == []
