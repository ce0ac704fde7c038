import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.observation import DeviceFound
from exporter.model.regression import (
    ACCELERATOR_MARGIN,
    KEPT_RUNS,
    METAL_MARGIN,
    NEEDED_RUNS,
    VIRTUAL_MARGIN,
    History,
    Interval,
    decide,
    fingerprint,
    margin,
)

CPU = DeviceFound(device="cpu", name="EPYC", driver="", governor="performance")
SOFTWARE = {"torch_version": "2.13", "threads": 1, "kernel": "6.1", "image": "1.0"}


def around(median, spread=0.05):
    return Interval(q1_s=median * (1 - spread), median_s=median, q3_s=median * (1 + spread))


def told(medians, slower=1.15):
    history, standings = History(), []
    for median in medians:
        history, standing = decide(history, around(median), slower)
        standings.append(standing)
    return history, standings


def test_nothing_is_decided_before_there_is_a_past():
    _, standings = told([1.0] * NEEDED_RUNS)
    assert {s.baseline_s for s in standings} == {None}
    assert not any(s.regressed for s in standings)


def test_three_slow_runs_in_a_row_are_a_regression_and_two_are_not():
    _, standings = told([1.0] * 6 + [2.0] * 4)
    assert [s.regressed for s in standings[6:]] == [False, False, True, True]
    assert standings[-1].ratio == pytest.approx(2.0)


@pytest.mark.parametrize(
    "medians",
    [
        pytest.param([2.0, 2.0, 1.0, 2.0, 2.0, 1.0], id="a run as usual in between"),
        pytest.param([1.2] * 6, id="slower, but the intervals touch the margin"),
        pytest.param([0.5] * 6, id="faster"),
    ],
)
def test_what_is_no_regression(medians):
    _, standings = told([1.0] * 6 + medians)
    assert not any(s.regressed for s in standings)


def test_the_past_does_not_get_used_to_slow_runs():
    history, standings = told([1.0] * 6 + [2.0] * 100)
    assert standings[-1].regressed
    assert standings[-1].baseline_s == pytest.approx(1.0)
    assert len(history.runs) == 6


def test_a_run_as_usual_ends_it():
    _, standings = told([1.0] * 6 + [2.0] * 5 + [1.0])
    assert (standings[-2].regressed, standings[-1].regressed) == (True, False)


@given(st.lists(st.floats(0.5, 2.0), max_size=60))
def test_the_past_is_bounded(medians):
    history, _ = told(medians)
    assert len(history.runs) <= KEPT_RUNS


@given(st.lists(st.floats(0.95, 1.05), min_size=1, max_size=40))
def test_ordinary_noise_never_regresses(medians):
    assert not any(s.regressed for s in told(medians)[1])


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        pytest.param(DeviceFound(device="cuda:0", name="H200", virtual=True), ACCELERATOR_MARGIN, id="GPU"),
        pytest.param(CPU, METAL_MARGIN, id="bare metal"),
        pytest.param(dataclasses.replace(CPU, virtual=True), VIRTUAL_MARGIN, id="virtual machine"),
    ],
)
def test_noisier_devices_get_more_room(device, expected):
    assert margin(device) == expected


@pytest.mark.parametrize(
    "other",
    [
        *({"name": "Xeon"}, {"driver": "570"}, {"runtime": "CUDA 13"}, {"power_limit_w": 300.0}),
        *({"governor": "powersave"}, {"virtual": True}, {"partition": True}),
    ],
    ids=str,
)
def test_another_device_or_driver_has_another_fingerprint(other):
    changed = dataclasses.replace(CPU, **other)
    assert fingerprint(changed, **SOFTWARE) != fingerprint(CPU, **SOFTWARE)


@pytest.mark.parametrize(
    "other", [{"torch_version": "3"}, {"threads": 2}, {"kernel": "7"}, {"image": "2"}], ids=str
)
def test_other_software_has_another_fingerprint(other):
    assert fingerprint(CPU, **SOFTWARE | other) != fingerprint(CPU, **SOFTWARE)


def test_what_others_do_on_the_device_is_not_its_fingerprint():
    busy = dataclasses.replace(CPU, other_processes=3)
    assert fingerprint(busy, **SOFTWARE) == fingerprint(CPU, **SOFTWARE)
