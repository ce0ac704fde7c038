"""Alerts on the exporter itself."""

from exporter.metrics.catalogue import probe, service
from exporter.metrics.family import Family
from prometheus.document import Alert, Group
from prometheus.promql import PROCESS, Pace

JOB = 'job=~".*inference-exporter.*"'
"""What the scrape job must be called; Prometheus Operator names it after the Service."""
LATE_S = 0.1


def exporter(pace: Pace) -> Group:
    """Return the alerts on a dead exporter, a refused configuration and a host that is too slow."""
    return Group(
        "inference_exporter",
        pace.interval("30s"),
        (
            Alert(
                name="InferenceExporterDown",
                expr=f"up{{{JOB}}} == 0\nor absent(up{{{JOB}}})",
                severity="page",
                wait=pace.of("5m"),
                keep=pace.of("5m"),
                summary="No inference-exporter answers{{ with $labels.instance }} at {{ . }}{{ end }}",
                description="Prometheus has not been able to scrape it for 5 minutes, or has no such job: "
                "every SLA alert of its targets is blind.",
            ),
            Alert(
                name="InferenceConfigReloadFailed",
                expr=f"max_over_time({service.RELOAD_SUCCESSFUL.name}[{pace.of('5m')}]) == 0",
                severity="ticket",
                keep=pace.of("5m"),
                summary="inference-exporter at {{ $labels.instance }} refused its configuration",
                description="The last load was refused at least 5 minutes ago; the former configuration runs "
                "on. The log names each problem with its line.",
            ),
            Alert(
                name="InferenceClientLate",
                expr=f"{_p99(pace, probe.LATENESS)} > {LATE_S}\nor {_p99(pace, service.LOOP_LAG)} > {LATE_S}",
                severity="ticket",
                wait=pace.of("10m"),
                keep=pace.of("10m"),
                summary="inference-exporter at {{ $labels.instance }} is too slow for what it measures",
                description="It comes to received bytes, or to its timers, {{ $value | printf `%.2f` }} s "
                "late (P99 over 10 minutes). Latencies are stamped by the kernel and stay true, slots may "
                "be missed.",
            ),
        ),
    )


def _p99(pace: Pace, family: Family) -> str:
    rate = f"rate({family.name}_bucket[{pace.of('10m')}])"
    return f"histogram_quantile(0.99, sum by (le, {PROCESS}) ({rate}))"
