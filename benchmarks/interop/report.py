"""From an exposition to a table of clocks, and what no honest set of clocks can look like."""

from collections import defaultdict
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

MINIMUM_PROBES = 5


@dataclass(frozen=True)
class Figures:
    """Means in seconds over the run; None where the probe has no such clock."""

    target: str
    probe: str
    probes: float
    failures: float
    invalid: float
    connections_new: float
    ttft_s: float | None
    gap_s: float | None
    tpot_s: float | None
    e2e_s: float | None
    output_tokens: float


def figures(exposition: str) -> list[Figures]:
    """Sum the series of each probe."""
    total: dict[tuple[str, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for family in text_string_to_metric_families(exposition):
        for sample in family.samples:
            if "probe" not in sample.labels or sample.name.endswith("_bucket"):
                continue
            kind = sample.labels.get("kind", "")
            total[sample.labels["target"], sample.labels["probe"]][
                sample.name + (f":{kind}" if kind else "")
            ] += sample.value
    return [_of(target, probe, values) for (target, probe), values in sorted(total.items())]


def _of(target: str, probe: str, values: dict[str, float]) -> Figures:
    def mean(family: str) -> float | None:
        count = values[f"{family}_count"]
        return values[f"{family}_sum"] / count if count else None

    return Figures(
        target=target,
        probe=probe,
        probes=values["inference_probes_total"],
        failures=values["inference_probe_failures_total"],
        invalid=values["inference_probe_invalid_samples_total"],
        connections_new=values["inference_probe_connections_total:new"],
        ttft_s=mean("inference_probe_time_to_first_token_seconds"),
        gap_s=mean("inference_probe_inter_token_latency_seconds"),
        tpot_s=mean("inference_probe_time_per_output_token_seconds"),
        e2e_s=mean("inference_probe_duration_seconds"),
        output_tokens=values["inference_probe_tokens_total:output"],
    )


def problems(rows: list[Figures]) -> list[str]:
    """Say what cannot be true of a healthy server."""
    found = []
    for row in rows:
        name = f"{row.target}/{row.probe}"
        if row.probes < MINIMUM_PROBES or row.failures:
            found.append(f"{name}: {row.probes:.0f} probes, {row.failures:.0f} failed")
        if row.e2e_s is None or row.e2e_s <= 0:
            found.append(f"{name}: no end-to-end time")
        is_stream = row.probe.endswith("-stream")
        if is_stream and (row.ttft_s is None or row.e2e_s is None or not 0 < row.ttft_s <= row.e2e_s):
            found.append(f"{name}: time to first token {row.ttft_s} of {row.e2e_s}")
        if not is_stream and row.ttft_s is not None:
            found.append(f"{name}: a time to first token without a stream")
        if is_stream and row.output_tokens <= 0:
            found.append(f"{name}: no output tokens")
    return found


def table(rows: list[Figures]) -> str:
    """Render the figures as Markdown."""
    lines = [
        (
            "| server | probe | probes | failures | new connections | TTFT ms | gap ms | TPOT ms | E2E ms"
            " | tokens | not observed |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        clocks = " | ".join(
            "-" if v is None else f"{v * 1000:.1f}" for v in (row.ttft_s, row.gap_s, row.tpot_s, row.e2e_s)
        )
        lines.append(
            f"| {row.target} | {row.probe} | {row.probes:.0f} | {row.failures:.0f}"
            f" | {row.connections_new:.0f} | {clocks} | {row.output_tokens:.0f} | {row.invalid:.0f} |"
        )
    return "\n".join(lines)
