import dataclasses

import pytest

from exporter.model.kernel import Dtype, Verdict
from exporter.model.observation import Seen, TimeSource
from exporter.model.roofline import Peak
from exporter.model.validity import judge
from tests.kernels.builders import CALM, CPU, CUDA, UNTIMED, measured

EVENTS = measured(device=(0.001,) * 20)
PEAK = Peak(flops_per_second={Dtype.FLOAT32: 1e12}, source="operator")


def seen(measurement):
    return Seen(variant=CPU.variant, verdict=Verdict.OK, measurement=measurement)


def conditions(**changes):
    return dataclasses.replace(CALM, **changes)


@pytest.mark.parametrize(
    ("run", "measurement", "around", "peak", "verdict", "words"),
    [
        pytest.param(CPU, measured(), CALM, None, Verdict.OK, "", id="calm"),
        pytest.param(
            CPU, measured(), conditions(foreign_cpu_s=None), None, Verdict.OK, "", id="no account to go by"
        ),
        pytest.param(
            CPU,
            measured(),
            conditions(foreign_cpu_s=0.13),
            None,
            Verdict.CONTENDED,
            "0.13 of 2 cores",
            id="others took a tenth of a core and more",
        ),
        pytest.param(
            CPU,
            measured(),
            conditions(foreign_cpu_s=0.13, cores=64),
            None,
            Verdict.OK,
            "",
            id="the same on a large machine",
        ),
        pytest.param(
            CPU,
            measured(),
            conditions(foreign_cpu_s=0.02, window_s=0.05),
            None,
            Verdict.OK,
            "",
            id="two ticks of the account prove nothing",
        ),
        pytest.param(
            CUDA,
            EVENTS,
            conditions(foreign_cpu_s=1.5),
            None,
            Verdict.OK,
            "",
            id="a GPU does not mind CPU load",
        ),
        pytest.param(
            CUDA,
            EVENTS,
            conditions(other_processes=2),
            None,
            Verdict.CONTENDED,
            "2 other process(es) compute on cuda:0",
            id="someone else's GPU",
        ),
        pytest.param(
            CUDA,
            EVENTS,
            conditions(throttled=("thermal",)),
            None,
            Verdict.THROTTLED,
            "thermal",
            id="the clock was lowered",
        ),
        pytest.param(
            CPU,
            measured(preemptions=(1,) * 11 + (0,) * 9),
            CALM,
            None,
            Verdict.TOO_FEW_SAMPLES,
            "9 of 20 repeats undisturbed",
            id="interrupted too often",
        ),
        pytest.param(
            CPU, measured(preemptions=(1,) * 10 + (0,) * 10), CALM, None, Verdict.OK, "", id="half is enough"
        ),
        pytest.param(
            CPU, measured(cpu=(0.02,) * 4), CALM, None, Verdict.TOO_FEW_SAMPLES, "4 of 4", id="ended early"
        ),
        pytest.param(
            CUDA, measured(device=(2e-6,) * 20), CALM, None, Verdict.WINDOW_SHORT, "2.0e-06 s", id="too short"
        ),
        pytest.param(
            CUDA, EVENTS, CALM, PEAK, Verdict.OVER_PEAK, "121% of the device's peak FLOP/s", id="impossible"
        ),
        pytest.param(
            CPU,
            measured(relative_error=0.5, **UNTIMED),
            CALM,
            None,
            Verdict.INCORRECT,
            "off by 5.0e-01",
            id="a wrong result",
        ),
        pytest.param(
            CPU,
            measured(relative_error=None, **UNTIMED),
            CALM,
            None,
            Verdict.INCORRECT,
            "not finite",
            id="a result that is no number",
        ),
        pytest.param(CPU, measured(cpu=(0.0,) * 20), CALM, None, Verdict.BAD_OUTPUT, "positive", id="zero"),
        pytest.param(
            CPU, measured(cpu=(0.1,) * 21), CALM, None, Verdict.BAD_OUTPUT, "1 to 20", id="too many"
        ),
        pytest.param(CPU, EVENTS, CALM, None, Verdict.BAD_OUTPUT, "others", id="events on a CPU"),
        pytest.param(CUDA, measured(), CALM, None, Verdict.BAD_OUTPUT, "others", id="CPU time on a GPU"),
        pytest.param(CPU, measured(), None, None, Verdict.BAD_OUTPUT, "others", id="no word of what went on"),
        pytest.param(CPU, None, CALM, None, Verdict.BAD_OUTPUT, "others", id="nothing at all"),
        pytest.param(
            CPU,
            measured(preemptions=(0,)),
            CALM,
            None,
            Verdict.BAD_OUTPUT,
            "others",
            id="counts without times",
        ),
    ],
)
def test_verdict(run, measurement, around, peak, verdict, words):  # noqa: PLR0917 - a row of the table
    found, detail = judge(run, seen(measurement), around, peak)
    assert (found, words in detail) == (verdict, True), detail


def test_what_the_worker_refused_keeps_its_reason():
    refused = Seen(variant=CPU.variant, verdict=Verdict.BACKEND_UNAVAILABLE, detail="no cuDNN")
    assert judge(CPU, refused, None, None) == (Verdict.BACKEND_UNAVAILABLE, "no cuDNN")


def test_wall_time_is_fine_where_an_accelerator_has_no_events():
    assert judge(CUDA, seen(measured(clock=TimeSource.WALL)), CALM, None)[0] is Verdict.OK
