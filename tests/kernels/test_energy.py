"""Energy of a call, with a meter that is told what to say."""

import dataclasses

import pytest

from exporter.model.call_energy import EnergyTick
from tests.kernels.stage import EVERYWHERE, PLAIN

METERED = dataclasses.replace(PLAIN, energy_s=3.0)


class Meter:
    """Three hundred watts on one GPU, in steps of a tenth of a second."""

    def __init__(self, watts=300.0):
        self.watts = watts
        self.asked = []

    def covers(self, device):
        return device == "cuda:0"

    async def ticks(self, device, seconds):
        self.asked.append((device, seconds))
        return tuple(
            EnergyTick(monotonic_s=100 + i / 10, joules=self.watts * i / 10) for i in range(int(seconds * 10))
        )


async def test_tokens_per_joule_of_the_metered_variant_on_the_metered_device(stage, only):
    only(METERED)
    meter = Meter()
    report = await stage.report("well", EVERYWHERE, meter=meter, begin="100")
    energies = {r.run.labels[1:3]: r.tokens_per_joule for r in report.results}
    # The fake worker ends a thousand calls a second.
    assert energies.pop(("sdpa", "cuda:0")) == pytest.approx(512 / 0.3, rel=0.01)
    assert set(energies.values()) == {None}
    assert meter.asked == [("cuda:0", 3.0)]
    assert report.joules == pytest.approx(300 * 2.9, rel=0.01)


@pytest.mark.parametrize(
    ("suite", "meter"),
    [
        pytest.param(METERED, None, id="no meter"),
        pytest.param(METERED, Meter(watts=0.0), id="a counter that stands"),
        pytest.param(PLAIN, Meter(), id="a suite that does not ask for it"),
    ],
)
async def test_without_a_true_window_there_is_no_energy(stage, only, suite, meter):
    only(suite)
    report = await stage.report("well", EVERYWHERE, meter=meter, begin="100")
    assert {r.energy for r in report.results} == {None}
    assert report.joules is None
