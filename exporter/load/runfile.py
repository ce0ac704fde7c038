"""The run file of a load test: what ``load --json`` prints, ``--out`` writes, and compare and report read.

``schema`` is ``inference-exporter/load/1``; docs/load.md explains the fields, docs/load-run.schema.json is
their JSON schema.  Times are seconds; a value that does not exist is null, an infinite one is ``"inf"``.
``run`` is what was measured, complete enough to be read back; ``steps`` are figures made of it for people and
other tools.  Prompts are replaced by their digest and length.
"""

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from exporter.model.codec import DecodeError, decode, encode
from exporter.model.load_figures import CLOCKS, Spread, cost_of, figures_of
from exporter.model.load_judgement import client_limits, judge
from exporter.model.load_plan import LoadPlan
from exporter.model.load_result import LoadRun, Step

SCHEMA = "inference-exporter/load/1"
_DIGEST = "sha256:"


class RunFileError(Exception):
    """A file is not a run file of ours; the message says what it is instead."""


def run_file(run: LoadRun) -> dict[str, Any]:
    """Return the run as a JSON object of the schema above."""
    run = replace(run, plan=_without_texts(run.plan))
    return {
        "schema": SCHEMA,
        "stopped": run.stopped,
        "knee": None if run.knee is None else encode(run.knee) | {"words": run.knee.words},
        "judgement": [
            {"step": found.step, "finding": found.finding.value, "words": found.words}
            for found in judge(run.plan, run.steps)
        ],
        "steps": [_step(run, step) for step in run.steps],
        "run": encode(run),
    }


def dumps(run: LoadRun) -> str:
    """Return the run file's text."""
    return json.dumps(run_file(run), indent=1, allow_nan=False)


def read_run(path: Path) -> LoadRun:
    """Read a run file back.  Raises RunFileError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunFileError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    except ValueError:
        raise RunFileError(f"{path}: not JSON; give a file that `load --out` wrote") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        said = data.get("schema") if isinstance(data, dict) else None
        raise RunFileError(f"{path}: schema {str(said)[:40]!r} is not {SCHEMA}; give a file of `load --out`")
    try:
        return decode(LoadRun, data.get("run"), "run")
    except DecodeError as error:
        raise RunFileError(f"{path}: damaged, or written by another version: {error}") from None


def _without_texts(plan: LoadPlan) -> LoadPlan:
    return replace(plan, prompts=tuple(replace(p, text=digest_of(p.text)) for p in plan.prompts))


def digest_of(text: str) -> str:
    """Return what stands for a prompt; a digest stands for itself."""
    if text.startswith(_DIGEST):
        return text
    return f"{_DIGEST}{hashlib.sha256(text.encode()).hexdigest()[:16]}, {len(text)} characters"


def _step(run: LoadRun, step: Step) -> dict[str, Any]:
    figures, cost = figures_of(step.tally), cost_of(step, run.pricing)
    limits = client_limits(run.plan, step)
    clocks = {name: _spread(figures.clocks[name]) for name in CLOCKS if figures.clocks[name].n}
    return {
        "level": step.level,
        "repeat": step.repeat,
        "side": step.side,
        "client_limited": bool(limits),
        "client_limits": list(limits),
        "stopped": step.stopped,
        "sent": step.tally.sent,
        "n": figures.n,
        "errors": {e.outcome.value: e.count for e in step.tally.outcomes if e.outcome.is_failure},
        "success_ratio": figures.success_ratio,
        "qps": figures.qps,
        "success_qps": figures.success_qps,
        "goodput_qps": figures.goodput_qps,
        "goodput_ratio": figures.goodput_ratio,
        "achieved_concurrency": figures.achieved_concurrency,
        "input_tokens_per_s": figures.input_tokens_per_s,
        "output_tokens_per_s": figures.output_tokens_per_s,
        "client_cpu_cores": figures.cpu_cores,
        "client_lateness_p99_s": step.tally.lateness.percentile_s(0.99),
        "invalid_ratio": figures.invalid_ratio,
        "settle_requests": step.tally.settle_requests,
        "late": step.tally.late,
        "dropped": step.tally.dropped,
        "latency": None if limits else clocks,
        "latency_not_the_servers": clocks if limits else None,
        "cost": {name: getattr(cost, name) for name in type(cost).__dataclass_fields__},
    }


def _spread(spread: Spread) -> dict[str, Any]:
    return {
        "n": spread.n,
        "mean_s": spread.mean_s,
        "success_only_s": {label: finite(value) for label, value in spread.success_only.items()},
        "with_failures_s": {label: finite(value) for label, value in spread.with_failures.items()},
    }


def finite(value: float | None) -> float | str | None:
    """Return a number that JSON can hold; an infinite one as ``"inf"``."""
    return "inf" if value is not None and math.isinf(value) else value
