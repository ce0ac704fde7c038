"""Confirmation probes in the running service: after a breach, within their budget, and counted apart."""

from pathlib import Path

from benchmarks.service import free_port
from tests.e2e.exporter_process import Exporter, Series, started, total, until

BUDGET = 5
TARGET = """
  - name: {name}
    base_url: http://127.0.0.1:{port}/v1
    model: none
    probes: [{{name: short, kind: chat, sla: {{availability: 99%}}{more}}}]
"""
CONFIRM = f", confirm: {{every: 1s, for: 30s, per_hour: {BUDGET}}}"


def config(*names: str) -> str:
    port = free_port()
    targets = "".join(
        TARGET.format(name=name, port=port, more=CONFIRM if name == "confirmed" else "") for name in names
    )
    return f"defaults: {{every: 1s, timeout: 1s}}\nweb: {{listen: '127.0.0.1:0'}}\ntargets:{targets}"


def ended(series: Series, target: str) -> float:
    return total(series, "inference_probes_total", target=target) or 0


def after(exporter: Exporter, target: str, probes: float) -> Series:
    def reached() -> Series | None:
        series = exporter.series()
        return series if ended(series, target) >= probes else None

    return until(reached, 60, lambda: f"fewer than {probes} probes of {target}:\n{exporter.log}")


def test_breaches_are_confirmed_within_the_budget_and_counted_apart(tmp_path: Path) -> None:
    path = tmp_path / "exporter.yml"
    path.write_text(config("confirmed", "plain"))
    with started("run", "--config", str(path)) as exporter:
        exporter.wait_until_up()
        series = after(exporter, "confirmed", 3 * BUDGET)
        assert total(series, "inference_sla_confirmations_total", target="confirmed") == BUDGET
        assert total(series, "inference_sla_confirmation_breaches_total", target="confirmed") == BUDGET
        assert total(series, "inference_sla_confirmation_runs_total", target="confirmed") == 1
        held = total(series, "inference_sla_requests_total", target="confirmed") or 0
        assert ended(series, "confirmed") - held in {0, 1}, "a scrape may fall between the two"
        assert total(series, "inference_sla_confirmations_total", target="plain") is None

        path.write_text(config("plain"))
        assert exporter.get("/-/reload", "POST")[0] == 200
        series = after(exporter, "plain", ended(exporter.series(), "plain") + 3)
        assert total(series, "inference_sla_confirmations_total", target="confirmed") is None
        assert total(series, "inference_exporter_job_crashes_total") == 0
