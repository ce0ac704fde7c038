"""The module pynvml that is not nvidia-ml-py's."""

from pathlib import Path

import pytest

from tests.power.station import ROOT, Station


@pytest.mark.parametrize(
    "stub",
    [
        pytest.param("class NVMLError(Exception): pass\n", id="an old package of the same name"),
        pytest.param("raise ImportError('no')\n", id="a broken one"),
    ],
)
async def test_a_wrong_binding_is_said_and_everything_else_goes_on(tmp_path: Path, stub: str) -> None:
    (tmp_path / "pynvml").mkdir()
    (tmp_path / "pynvml" / "__init__.py").write_text(stub)
    async with Station({"PYTHONPATH": f"{tmp_path}:{ROOT}"}) as station:
        await station.until(
            lambda: station.value("inference_power_source_fault", source="nvml", reason="no_library") == 1
        )
        assert station.value("inference_power_worker_up") == 1
        assert station.value("inference_power_source_fault", source="rapl", reason="no_device") == 1
