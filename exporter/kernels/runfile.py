"""The JSON form of a bench report: what ``bench --json`` prints and ``--out`` writes.

``schema`` is ``inference-exporter/bench/1``; a field is added without a new number, none changes its
meaning.  Times are seconds; a value that does not exist is null.

- ``suite``, ``finished_unix_s``, ``seconds`` (wall time of the whole run), ``exporter_version``
- ``supported``: false without a usable torch (``detail`` says why), null when the worker died first
- ``environment``: ``torch_version``, ``threads``, ``devices`` [``device``, ``name``]; null when unknown
- ``absent``: devices that were asked for and are not there
- ``results``: one for each case, variant and device
  - ``case``, ``variant``, ``device``, ``dtype``, ``shape``, ``warmup``, ``repeats``
  - ``verdict`` (``ok``, or the reason why there is no time), ``detail``, ``backend`` (which one ran)
  - ``correct``, ``relative_error``: against float64
  - ``clock`` (``process_cpu`` or ``device_events``), ``q1_s``, ``median_s``, ``q3_s``, ``n``
  - ``tokens_per_second``, ``flops_per_call``, ``flops_per_second``, ``bytes_per_call``, ``wall_to_cpu_ratio``
  - ``times_s``: ``wall``, ``cpu``, ``device``, one value a repeat
"""

from typing import Any

from exporter import __version__
from exporter.model.attention import compulsory_bytes, total_flops
from exporter.model.codec import encode
from exporter.model.kernel import BenchReport, KernelResult

SCHEMA = "inference-exporter/bench/1"


def run_file(report: BenchReport) -> dict[str, Any]:
    """Return the report as a JSON object of the schema above."""
    return {
        "schema": SCHEMA,
        "exporter_version": __version__,
        "suite": report.suite,
        "finished_unix_s": report.finished_unix_s,
        "seconds": report.seconds,
        "supported": report.supported,
        "detail": report.detail,
        "environment": encode(report.environment),
        "absent": list(report.absent),
        "results": [_result(result) for result in report.results],
    }


def _result(result: KernelResult) -> dict[str, Any]:
    case, seen, summary = result.run.case, result.measurement, result.summary
    clock = ("device_events" if seen.device_s else "process_cpu") if seen and result.times_s else None
    return {
        "case": case.name,
        "variant": result.run.variant.value,
        "device": result.run.device,
        "dtype": case.dtype.value,
        "shape": encode(case.shape),
        "warmup": case.warmup,
        "repeats": case.repeats,
        "verdict": result.verdict.value,
        "detail": result.detail,
        "backend": seen.backend.value if seen else None,
        "correct": seen.correct if seen else None,
        "relative_error": seen.relative_error if seen else None,
        "clock": clock,
        "q1_s": summary.q1_s if summary else None,
        "median_s": summary.median_s if summary else None,
        "q3_s": summary.q3_s if summary else None,
        "n": summary.n if summary else 0,
        "tokens_per_second": result.tokens_per_second,
        "flops_per_call": total_flops(case.shape),
        "flops_per_second": result.flops_per_second,
        "bytes_per_call": compulsory_bytes(case.shape, case.dtype.bytes),
        "wall_to_cpu_ratio": result.wall_to_cpu_ratio,
        "times_s": {
            "wall": list(seen.wall_s) if seen else [],
            "cpu": list(seen.cpu_s) if seen else [],
            "device": list(seen.device_s) if seen else [],
        },
    }
