"""What Prometheus scrapes minute by minute, who must be told, and promtool to judge the rules by it."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
RULES = {
    path: {
        rule["alert"]
        for g in yaml.safe_load(path.read_text())["groups"]
        for rule in g["rules"]
        if "alert" in rule
    }
    for path in sorted((ROOT / "prometheus" / "rules").glob("*.yml"))
}
"""The rule files and the alerts in each."""
_READS = {"InferenceTargetDown": "sla.yml", "InferenceTTFTRegression": "display.yml"}
"""Alerts that read what another file records."""
WHO = 'target="{target}",model="m",probe="p"'
INSTANCE = 'job="inference-exporter",instance="a:9780"'


@dataclass(frozen=True, kw_only=True)
class Story:
    """``firing`` has, by time and alert, the label sets that fire: ``{"10m": {"X": ["prod/page"]}}``.

    A label set is written as target (or device, or instance) and severity; [] means that nobody is told.
    ``never`` names alerts that do not fire at any time within the ``minutes``.
    """

    series: Mapping[str, str]
    firing: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    interval: str = "1m"
    """From one scrape to the next."""
    every: str = "1m"
    """From one evaluation to the next; promtool does not look at the intervals of the groups."""
    minutes: int = 200

    def document(self) -> dict[str, object]:
        """Return the file that `promtool test rules` reads."""
        checks = [
            _check(at, alert, told) for at, alerts in self.firing.items() for alert, told in alerts.items()
        ]
        for alert in self.never:
            fired = f'count_over_time(ALERTS{{alertname="{alert}",alertstate="firing"}}[{self.minutes}m])'
            checks.append({"expr": fired, "eval_time": f"{self.minutes}m", "exp_samples": []})
        asked = {alert for alerts in self.firing.values() for alert in alerts} | {*self.never}
        read = {_READS[alert] for alert in asked & _READS.keys()}
        return {
            "rule_files": [str(p) for p, alerts in RULES.items() if asked & alerts or p.name in read],
            "evaluation_interval": self.every,
            "tests": [
                {
                    "interval": self.interval,
                    "input_series": [{"series": s, "values": v} for s, v in self.series.items()],
                    "promql_expr_test": checks,
                }
            ],
        }


def _check(at: str, alert: str, told: list[str]) -> dict[str, object]:
    named = f'ALERTS{{alertname="{alert}",alertstate="firing"}}'
    for label in ("instance", "device", "uuid", "target"):
        named = f'label_replace({named}, "who", "$1", "{label}", "(.+)")'
    return {
        "expr": f"count by (who, severity) ({named})",
        "eval_time": at,
        "exp_samples": [
            {"labels": f'{{who="{who}",severity="{severity}"}}'.replace('who="",', ""), "value": 1}
            for who, _, severity in (one.partition("/") for one in told)
        ],
    }


def judge(document: object, folder: Path) -> str:
    """Return what promtool finds wrong, "" when it finds nothing."""
    path = folder / "story.yml"
    path.write_text(yaml.safe_dump(document))
    done = subprocess.run(
        ["promtool", "test", "rules", str(path)], capture_output=True, text=True, check=False, timeout=100
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def with_texts(
    story: Story, at: str, alert: str, labels: Mapping[str, str], texts: Mapping[str, str]
) -> object:
    """Return the story's file with one more check: what people read when the alert fires."""
    document = story.document()
    test = document["tests"][0]  # type: ignore[index]
    expected = {"exp_labels": dict(labels), "exp_annotations": dict(texts)}
    test["alert_rule_test"] = [{"eval_time": at, "alertname": alert, "exp_alerts": [expected]}]
    return document


def promise(
    target: str,
    requests: str,
    breaches: str,
    runs: str,
    row: str,
    *,
    objective: float = 0.99,
    severity: str = "page",
    every: str = "15",
    long: int = 800,
) -> dict[str, str]:
    """Return the series of one objective and of its probe's interval."""
    labels = f'{WHO.format(target=target)},sli="ttft_p99",{INSTANCE}'
    return {
        f"inference_sla_objective_ratio{{{labels}}}": f"{objective}x{long}",
        f"inference_sla_threshold_seconds{{{labels}}}": f"0.5x{long}",
        f'inference_sla_severity_info{{{labels},severity="{severity}"}}': f"1x{long}",
        f"inference_sla_requests_total{{{labels}}}": requests,
        f"inference_sla_breaches_total{{{labels}}}": breaches,
        f"inference_sla_breach_runs_total{{{labels}}}": runs,
        f"inference_sla_consecutive_breaches{{{labels}}}": row,
        f"inference_probe_interval_seconds{{{WHO.format(target=target)},{INSTANCE}}}": f"{every}x{long}",
    }


def confirmed(target: str, requests: str, breaches: str, runs: str) -> dict[str, str]:
    """Return the series of a probe's confirmations."""
    labels = f'{WHO.format(target=target)},sli="ttft_p99",{INSTANCE}'
    return {
        f"inference_sla_confirmations_total{{{labels}}}": requests,
        f"inference_sla_confirmation_breaches_total{{{labels}}}": breaches,
        f"inference_sla_confirmation_runs_total{{{labels}}}": runs,
    }


def healthy(target: str = "good", long: int = 800, **changes: object) -> dict[str, str]:
    """Return a target that keeps its objective, probed every 15 s."""
    return promise(target, f"0+4x{long}", f"0x{long}", f"0x{long}", f"0x{long}", long=long, **changes)


def probe(target: str, ended: str, failed: str, success: str, last_success: str) -> dict[str, str]:
    """Return the series of a probe's results; ``last_success`` "" means that it never had one."""
    labels = f"{WHO.format(target=target)},{INSTANCE}"
    series = {
        f"inference_probes_total{{{labels}}}": ended,
        f'inference_probe_failures_total{{{labels},reason="connect"}}': failed,
        f'inference_probe_failures_total{{{labels},reason="dns"}}': "0x800",
        f"inference_probe_success{{{labels}}}": success,
    }
    if last_success:
        series[f"inference_probe_last_success_timestamp_seconds{{{labels}}}"] = last_success
    return series
