import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.kernels.suite import ARTICLE
from exporter.model.codec import encode
from exporter.model.kernel import Backend, DeviceFound, Environment, KernelRun, Measurement, Variant, Verdict
from exporter.model.protocol import (
    VERSION,
    Describe,
    Failed,
    Malformed,
    Measure,
    Unsupported,
    answer_from_json,
    question_from_json,
    to_json,
)

RUN = KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cuda:0")
MEASURED = Measurement(
    backend=Backend.FLASH, relative_error=2e-7, correct=True, wall_s=(0.5, 1), cpu_s=(0.25, 0.5), device_s=()
)
times = st.lists(st.floats(0, 1e6), max_size=5).map(tuple)


def over_the_wire(message):
    return json.loads(json.dumps(to_json(message), allow_nan=False))


@pytest.mark.parametrize("question", [Describe(), Measure(run=RUN)], ids=lambda q: type(q).__name__)
def test_a_question_arrives_as_it_was_sent(question):
    assert question_from_json(over_the_wire(question)) == question


@pytest.mark.parametrize(
    "answer",
    [
        MEASURED,
        Measurement(backend=Backend.EAGER, relative_error=None, correct=False),
        Unsupported(detail="torch is not installed"),
        Failed(verdict=Verdict.OUT_OF_MEMORY, detail="no"),
        Environment(torch_version="2.13.0", threads=1, devices=(DeviceFound(device="cpu", name="EPYC"),)),
    ],
    ids=lambda a: type(a).__name__,
)
def test_an_answer_arrives_as_it_was_sent(answer):
    assert answer_from_json(over_the_wire(answer)) == answer


@given(times, times, st.none() | st.floats(0, 1))
def test_times_arrive_to_the_last_bit(wall, cpu, error):
    answer = Measurement(backend=Backend.MATH, relative_error=error, correct=True, wall_s=wall, cpu_s=cpu)
    assert answer_from_json(over_the_wire(answer)) == answer


def spoiled(**changes):
    message = copy.deepcopy(over_the_wire(MEASURED))
    message["body"].update(changes)
    return message


@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param([], "expected a JSON object, got list", id="not an object"),
        pytest.param({"kind": "measurement"}, "two versions", id="no version"),
        pytest.param(
            over_the_wire(MEASURED) | {"protocol": VERSION + 1}, "restart the exporter", id="a later version"
        ),
        pytest.param(
            over_the_wire(MEASURED) | {"kind": "praise"}, "'praise' is none of", id="an unknown kind"
        ),
        pytest.param(over_the_wire(Describe()), "'describe' is none of", id="a question is no answer"),
        pytest.param(over_the_wire(MEASURED) | {"body": None}, "expected an object", id="no body"),
        pytest.param(spoiled(mood="good"), "unknown fields: mood", id="a field too many"),
        pytest.param(
            spoiled(backend="magic"), "measurement.backend: 'magic'", id="a backend outside the enum"
        ),
        pytest.param(spoiled(backend=["flash"]), "measurement.backend", id="a list for a backend"),
        pytest.param(spoiled(correct=1), "measurement.correct: expected bool", id="a number is no bool"),
        pytest.param(spoiled(wall_s=[True]), "wall_s[0]: expected float", id="a bool is no time"),
        pytest.param(spoiled(wall_s=["1"]), "wall_s[0]: expected float, got str", id="a string is no time"),
        pytest.param(spoiled(wall_s=1.0), "wall_s: expected a list", id="one time is no list"),
        pytest.param(spoiled(wall_s=[float("nan")]), "wall_s[0]: not a finite", id="not a number"),
        pytest.param(spoiled(relative_error=float("inf")), "relative_error: not a finite", id="infinite"),
        pytest.param(
            spoiled(relative_error="0"), "relative_error: expected float", id="a string where null may be"
        ),
    ],
)
def test_what_is_not_of_the_protocol_is_refused_with_its_place(message, words):
    refused = answer_from_json(message)
    assert isinstance(refused, Malformed)
    assert words in refused.detail


def test_a_shape_that_no_attention_has_does_not_reach_the_worker():
    message = over_the_wire(Measure(run=RUN))
    message["body"]["run"]["case"]["shape"]["heads"] = 7
    refused = question_from_json(message)
    assert isinstance(refused, Malformed)
    assert "measure.run.case.shape: dim is a multiple of heads" in refused.detail


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_no_json_makes_the_reader_raise(data):
    envelope = {"protocol": VERSION, "kind": "measurement", "body": data}
    assert isinstance(answer_from_json(envelope), Malformed)
    assert isinstance(answer_from_json(data), Malformed)


def test_a_value_without_a_json_form_is_a_defect():
    with pytest.raises(TypeError, match="set has no JSON form"):
        encode({1, 2})
