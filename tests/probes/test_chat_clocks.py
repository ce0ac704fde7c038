"""The chat kind over real sockets: its clocks follow the script."""

import pytest

from exporter.model.results import ProbeResult
from exporter.probes.base import Api
from tests.fakes.scripted_server import (
    streaming,
)
from tests.model.streams import DONE, PING, delta, role, stop, text, usage_event
from tests.probes.sockets import probe_script


def seconds(result: ProbeResult) -> tuple[float, float, float]:
    timing = result.timing
    assert timing.ttft is not None
    assert timing.tpot is not None
    assert timing.e2e is not None
    return timing.ttft.value_s, timing.tpot.value_s, timing.e2e.value_s


async def test_clocks_follow_the_script(api: Api) -> None:
    script = streaming(
        (0.0, role()),
        (0.1, PING),
        (0.2, text()),
        *[(0.05, text())] * 4,
        (0.0, stop()),
        (0.3, usage_event(5) + DONE),
    )
    result = await probe_script(api, script)
    ttft_s, tpot_s, e2e_s = seconds(result)
    assert ttft_s >= 0.3
    assert all(gap.value_s + gap.above_s >= 0.05 - gap.below_s for gap in result.timing.gaps)
    assert tpot_s >= 0.04
    assert ttft_s > 3 * tpot_s
    assert e2e_s >= ttft_s + 4 * tpot_s + 0.29
    assert result.phases is not None
    assert e2e_s <= result.phases.total_s


async def test_four_tokens_a_chunk(api: Api) -> None:
    script = streaming(*[(0.08, text("a b c d"))] * 6, (0.0, stop()), (0.0, usage_event(24)), (0.0, DONE))
    result = await probe_script(api, script)
    mean_gap_s = sum(gap.value_s for gap in result.timing.gaps) / 5
    assert result.timing.tpot is not None
    assert mean_gap_s == pytest.approx(4 * result.timing.tpot.value_s)


async def test_reasoning_comes_first_and_content_has_its_own_clock(api: Api) -> None:
    script = streaming((0.05, delta(reasoning_content="t")), (0.2, text()), (0.0, stop()), (0.0, DONE))
    result = await probe_script(api, script)
    assert result.timing.ttft is not None
    assert result.timing.ttfc is not None
    assert result.timing.ttfc.value_s - result.timing.ttft.value_s >= 0.15
