import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.call_energy import EnergyTick, call_energy
from exporter.model.observation import Mark


def counter(watts, seconds, step_s=0.1, phase_s=0.03):
    """A counter that is exact at its steps."""
    n = int((seconds - phase_s) / step_s) + 1
    moments = [phase_s + i * step_s for i in range(n)]
    return tuple(EnergyTick(monotonic_s=t, joules=watts * t) for t in moments)


def calls(per_second, seconds, every_s=0.02):
    n = round(seconds / every_s)
    return tuple(Mark(monotonic_s=i * every_s, calls=round(i * every_s * per_second)) for i in range(n + 1))


@given(st.floats(30, 1000), st.floats(0, 0.099), st.floats(2.5, 6))
def test_aligned_to_the_steps_the_energy_is_exact_whatever_the_phase(watts, phase, seconds):
    energy = call_energy(counter(watts, seconds, phase_s=phase), calls(1000, seconds))
    assert energy.joules_per_call == pytest.approx(watts / 1000, rel=0.01)


@pytest.mark.parametrize(
    ("ticks", "marks"),
    [
        pytest.param((), calls(1000, 3), id="the meter said nothing"),
        pytest.param(counter(300, 3), (), id="the kernel did not run"),
        pytest.param(counter(300, 1.5), calls(1000, 1.5), id="a second and a half"),
        pytest.param(counter(300, 3, step_s=0.5), calls(1000, 3), id="six steps"),
        pytest.param(counter(0, 3), calls(1000, 3), id="the counter stands"),
        pytest.param(counter(300, 3), calls(0, 3), id="no call ended"),
        pytest.param(tuple(reversed(counter(300, 3))), calls(1000, 3), id="the counter was reset"),
    ],
)
def test_a_window_that_cannot_be_trusted_gives_nothing(ticks, marks):
    assert call_energy(ticks, marks) is None


def test_steps_before_and_after_the_load_do_not_count():
    around = (
        EnergyTick(monotonic_s=-5.0, joules=-1e6),
        *counter(300, 3),
        EnergyTick(monotonic_s=9.0, joules=1e6),
    )
    energy = call_energy(around, calls(1000, 3))
    assert energy.joules_per_call == pytest.approx(0.3, rel=0.01)
    assert energy.ticks == 30
