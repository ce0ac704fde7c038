"""The JSON form of a bench report: what ``bench --json`` prints and ``--out`` writes.

``schema`` is ``inference-exporter/bench/2``; a field is added without a new number, none changes its
meaning.  Times are seconds; a value that does not exist is null.

- ``suite``, ``finished_unix_s``, ``seconds`` (wall time of the whole run), ``exporter_version``
- ``supported``: false without a usable torch (``detail`` says why), null when the worker died first
- ``skipped``: why the suite was not run, null when it was; ``skipped_devices``: used by others
- ``environment``: ``torch_version``, ``threads``, ``devices`` [``device``, ``name``, ``driver``, ``runtime``,
  ``power_limit_w``, ``governor``, ``virtual``, ``partition``, ``other_processes``]; null when unknown
- ``fingerprints``: by device, twelve characters that change with whatever times depend on; runs are
  comparable when they are equal
- ``ceilings`` [``device``, ``flops_per_second`` by number format, ``bytes_per_second``, ``drift_ratio``]:
the best
  matrix product and copy of this run
- ``peaks`` [``device``, ``source``, ``flops_per_second``, ``bytes_per_second``]: of known devices
- ``absent``: devices that were asked for and are not there
- ``results``: one for each case, variant and device
  - ``case``, ``variant``, ``device``, ``dtype``, ``shape``, ``warmup``, ``repeats``
  - ``verdict`` (``ok``, or the reason why there is no time), ``detail``, ``backend`` (which one ran)
  - ``correct``, ``relative_error``: against float64
  - ``clock`` (``process_cpu``, ``wall`` or ``device_events``), ``graphed``, ``q1_s``, ``median_s``,
  ``q3_s``, ``n``,
    ``kept_ratio`` (repeats that were not interrupted)
  - ``tokens_per_call``, ``tokens_per_second``, ``flops_per_call``, ``flops_per_second``, ``bytes_per_call``,
    ``wall_to_cpu_ratio``, ``tokens_per_joule``
  - ``intensity`` (FLOP per byte), ``bound`` (``compute`` or ``memory``), ``roofline_ratio``, ``mfu``, ``mbu``
  - ``baseline_s``, ``regressed``: against earlier runs
  - ``foreign_cores``, ``window_s``, ``throttled``, ``other_processes``: what went on meanwhile
  - ``times_s``: ``wall``, ``cpu``, ``device``, one value a repeat, and ``preemptions``
"""

from typing import Any

from exporter import __version__
from exporter.model.codec import encode
from exporter.model.kernel_report import BenchReport, KernelResult
from exporter.model.work import flops, moved_bytes, tokens

SCHEMA = "inference-exporter/bench/2"


def run_file(report: BenchReport) -> dict[str, Any]:
    """Return the report as a JSON object of the schema above."""
    return {
        "schema": SCHEMA,
        "exporter_version": __version__,
        "suite": report.suite,
        "finished_unix_s": report.finished_unix_s,
        "seconds": report.seconds,
        "supported": report.supported,
        "skipped": encode(report.skipped),
        "skipped_devices": list(report.skipped_devices),
        "detail": report.detail,
        "environment": encode(report.environment),
        "fingerprints": dict(report.fingerprints),
        "ceilings": [
            {
                "device": c.device,
                "flops_per_second": {dtype.value: rate for dtype, rate in c.flops_per_second.items()},
                "bytes_per_second": c.bytes_per_second,
                "drift_ratio": c.drift_ratio,
            }
            for c in report.ceilings
        ],
        "peaks": [
            {
                "device": device,
                "source": peak.source,
                "flops_per_second": {dtype.value: rate for dtype, rate in peak.flops_per_second.items()},
                "bytes_per_second": peak.bytes_per_second,
            }
            for device, peak in report.peaks
        ],
        "absent": list(report.absent),
        "results": [_result(result) for result in report.results],
    }


def _result(result: KernelResult) -> dict[str, Any]:
    case = result.run.case
    return {
        "case": case.name,
        "variant": result.run.variant.value,
        "device": result.run.device,
        "dtype": case.dtype.value,
        "shape": encode(case.work),
        "warmup": case.warmup,
        "repeats": case.repeats,
        "verdict": result.verdict.value,
        "detail": result.detail,
        "tokens_per_call": tokens(case.work),
        "flops_per_call": flops(case.work),
        "bytes_per_call": moved_bytes(case.work, case.dtype.bytes),
        **_times(result),
        **_meaning(result),
        **_circumstances(result),
    }


def _times(result: KernelResult) -> dict[str, Any]:
    seen, summary = result.measurement, result.summary
    return {
        "backend": seen.backend.value if seen else None,
        "correct": seen.correct if seen else None,
        "relative_error": seen.relative_error if seen else None,
        "clock": seen.clock.value if seen and summary else None,
        "graphed": seen.graphed if seen else None,
        "q1_s": summary.q1_s if summary else None,
        "median_s": summary.median_s if summary else None,
        "q3_s": summary.q3_s if summary else None,
        "n": summary.n if summary else 0,
        "kept_ratio": result.kept_ratio,
        "times_s": {
            "wall": list(seen.wall_s) if seen else [],
            "cpu": list(seen.cpu_s) if seen else [],
            "device": list(seen.device_s) if seen else [],
            "preemptions": list(seen.preemptions) if seen else [],
        },
    }


def _meaning(result: KernelResult) -> dict[str, Any]:
    placed, standing = result.placement, result.standing
    return {
        "tokens_per_second": result.tokens_per_second,
        "flops_per_second": result.flops_per_second,
        "wall_to_cpu_ratio": result.wall_to_cpu_ratio,
        "tokens_per_joule": result.tokens_per_joule,
        "intensity": placed.intensity if placed else None,
        "bound": encode(placed.bound) if placed else None,
        "roofline_ratio": placed.roofline_ratio if placed else None,
        "mfu": placed.mfu if placed else None,
        "mbu": placed.mbu if placed else None,
        "baseline_s": standing.baseline_s if standing else None,
        "regressed": standing.regressed if standing else None,
    }


def _circumstances(result: KernelResult) -> dict[str, Any]:
    seen = result.conditions
    return {
        "foreign_cores": seen.foreign_cores if seen else None,
        "window_s": seen.window_s if seen else None,
        "throttled": list(seen.throttled) if seen else [],
        "other_processes": seen.other_processes if seen else None,
    }
