"""A probe's result as plain JSON values, the schema ``inference-exporter/probe/1``.

Durations are seconds; null means: not known, or there is no such thing.
"""

from dataclasses import asdict

from exporter.model.clocks import Clock, Measured
from exporter.model.outcome import Outcome
from exporter.model.remedy import REMEDIES
from exporter.model.results import ProbeResult


def result_json(result: ProbeResult) -> dict[str, object]:
    """Return the result; holds neither a key nor a prompt nor an answer."""
    remedy = REMEDIES.get(result.outcome)
    return {
        "target": result.target.name,
        "model": result.target.model,
        "probe": result.spec.name,
        "kind": result.spec.kind,
        "ok": result.outcome is Outcome.OK,
        "outcome": str(result.outcome),
        "detail": result.detail,
        "status": result.status,
        "finished_unix_seconds": result.finished_unix_s,
        "clocks": {str(clock): _measured(result.timing.of(clock)) for clock in Clock},
        "gaps": [gap.value_s for gap in result.timing.gaps],
        "phases": None if result.phases is None else asdict(result.phases),
        "tokens": asdict(result.tokens),
        "connection": asdict(result.connection) | {"reused": result.reused},
        "certificate_expiry_unix_seconds": result.certificate_expiry_unix_s,
        "stamps": None if result.stamps is None else str(result.stamps),
        "rate_limits": asdict(result.rate_limits),
        "server": asdict(result.server),
        "model_hash": result.answered_by,
        "cause": None if remedy is None else remedy.cause,
        "next_steps": [] if remedy is None else list(remedy.steps),
    }


def _measured(measured: Measured | None) -> dict[str, float] | None:
    return None if measured is None else asdict(measured)
