import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.kernels.cases import ARTICLE
from exporter.kernels.suite import SUITES
from exporter.model.codec import encode
from exporter.model.kernel import KernelRun, Variant, Verdict
from exporter.model.observation import DeviceFound, Environment, Group, Mark, Seen, Sustained
from exporter.model.protocol import (
    VERSION,
    Describe,
    Failed,
    Malformed,
    Measure,
    Sustain,
    Unsupported,
    answer_from_json,
    question_from_json,
    to_json,
)
from tests.kernels.builders import CALM, measured

RUN = KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cuda:0")
TIMED = measured(cpu=(0.25, 0.5), wall=(0.5, 1.0), preemptions=(0, 2))
MEASURED = Group(
    seen=(
        Seen(variant=Variant.SDPA, verdict=Verdict.OK, measurement=TIMED),
        Seen(variant=Variant.NAIVE, verdict=Verdict.PREDICTED_COST, detail="18 s"),
    ),
    conditions=CALM,
)
times = st.lists(st.floats(0, 1e6), max_size=5).map(tuple)


def over_the_wire(message):
    return json.loads(json.dumps(to_json(message), allow_nan=False))


@pytest.mark.parametrize(
    "question",
    [
        Describe(),
        Sustain(run=RUN, seconds=2.5),
        *(
            Measure(case=case, device="cuda:0", variants=case.variants)
            for case in {case for suite in SUITES.values() for case in suite.cases_on("cuda:0")}
        ),
    ],
    ids=lambda q: (
        f"{type(q).__name__} {q.case.name} {q.case.dtype}" if isinstance(q, Measure) else type(q).__name__
    ),
)
def test_a_question_arrives_as_it_was_sent(question):
    assert question_from_json(over_the_wire(question)) == question


@pytest.mark.parametrize(
    "answer",
    [
        MEASURED,
        Group(seen=(), conditions=None),
        Sustained(marks=(Mark(monotonic_s=1.5, calls=0), Mark(monotonic_s=2.5, calls=7))),
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
    seen = Seen(
        variant=Variant.SDPA,
        verdict=Verdict.OK,
        measurement=measured(cpu=cpu, wall=wall, relative_error=error),
    )
    answer = Group(seen=(seen,), conditions=CALM)
    assert answer_from_json(over_the_wire(answer)) == answer


def spoiled(**changes):
    message = copy.deepcopy(over_the_wire(MEASURED))
    message["body"]["seen"][0]["measurement"].update(changes)
    return message


@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param([], "expected a JSON object, got list", id="not an object"),
        pytest.param({"kind": "group"}, "two versions", id="no version"),
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


def test_work_of_no_known_kind_is_refused():
    message = over_the_wire(Sustain(run=RUN, seconds=1.0))
    message["body"]["run"]["case"]["work"] = {"size": 4, "copied_bytes": 4}
    assert "fits none of AttentionShape, MatmulShape, CopyShape" in question_from_json(message).detail


def test_a_shape_that_no_attention_has_does_not_reach_the_worker():
    message = over_the_wire(Sustain(run=RUN, seconds=1.0))
    message["body"]["run"]["case"]["work"]["heads"] = 7
    refused = question_from_json(message)
    assert isinstance(refused, Malformed)
    assert "sustain.run.case.work: dim is a multiple of heads" in refused.detail


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_no_json_makes_the_reader_raise(data):
    envelope = {"protocol": VERSION, "kind": "group", "body": data}
    assert isinstance(answer_from_json(envelope), Malformed)
    assert isinstance(answer_from_json(data), Malformed)


def test_a_value_without_a_json_form_is_a_defect():
    with pytest.raises(TypeError, match="set has no JSON form"):
        encode({1, 2})
