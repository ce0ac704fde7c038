"""Recorded series for people to look at, judged by promtool."""

import pytest

from tests.prometheus.stories import INSTANCE, ROOT, WHO, judge

SCENARIO = 'target="a",model="m",scenario="s"'
LOAD = {
    f"inference_load_requests_total{{{SCENARIO}}}": "0x10 1000x20",
    f"inference_load_good_requests_total{{{SCENARIO}}}": "0x10 900x20",
    f"inference_load_run_seconds_total{{{SCENARIO}}}": "0x10 100x20",
    f'inference_load_tokens_total{{{SCENARIO},kind="output"}}': "0x10 5000x20",
}
PROBES = {
    f"inference_probes_total{{{WHO.format(target='a')},{INSTANCE}}}": "0+60x30",
    f'inference_probe_failures_total{{{WHO.format(target="a")},{INSTANCE},reason="dns"}}': "0+6x30",
}
WORK = f'target="a",model="m",work="probes",{INSTANCE}'
POWER = {
    f"inference_target_tokens_per_joule{{{WORK}}}": "1x10 3x10"
}  # at 20 minutes eleven ones and ten threes
EXPECTED = {
    "scenario:inference_load_requests:rate1d": (f"{{{SCENARIO}}}", 10),
    "scenario:inference_load_good_requests:rate1d": (f"{{{SCENARIO}}}", 9),
    "scenario:inference_load_good_requests:ratio1d": (f"{{{SCENARIO}}}", 0.9),
    "scenario_kind:inference_load_tokens:rate1d": (f'{{{SCENARIO},kind="output"}}', 50),
    "target_work:inference_target_tokens_per_joule:avg1h": (f"{{{WORK}}}", 1.952),
    "probe:inference_probes:rate5m": (f"{{{WHO.format(target='a')}}}", 1),
    "probe:inference_probe_success:ratio1h": (f"{{{WHO.format(target='a')}}}", 0.9),
}


@pytest.mark.stack
def test_throughput_goodput_and_success_are_those_of_the_time_in_which_there_was_work(tmp_path):
    document = {
        "rule_files": [str(ROOT / "prometheus" / "rules" / "display.yml")],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "5m" if name.startswith("scenario") else "1m",
                "input_series": [{"series": s, "values": v} for s, v in {**LOAD, **PROBES, **POWER}.items()],
                "promql_expr_test": [
                    {
                        "expr": f"round({name}, 0.001)",
                        "eval_time": "100m" if name.startswith("scenario") else "20m",
                        "exp_samples": [{"labels": labels, "value": value}],
                    }
                ],
            }
            for name, (labels, value) in EXPECTED.items()
        ],
    }
    assert judge(document, tmp_path) == ""
