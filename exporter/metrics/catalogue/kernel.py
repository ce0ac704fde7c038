"""Families of the kernel benches.

Two decisions run through them.  The label ``backend`` stands on counters and histograms only: on a gauge
the framework's silent switch to another implementation would leave the old series behind at its last
value, so ``inference_kernel_backend`` says which one ran.  And a run that is not ``ok`` takes the gauges
of its case away: no number is better than yesterday's.
"""

from exporter.metrics.catalogue.kernel_meaning import KERNEL_MEANING, RUN_LABELS, VARIANT_VALUES
from exporter.metrics.family import Family, Type
from exporter.model.kernel import FAILED_VERDICTS, Backend
from exporter.model.kernel_report import SkipReason

_RUN, _VARIANTS = RUN_LABELS, VARIANT_VALUES
_BACKENDS = ("backend", tuple(Backend))
_CLOCK = (
    "On the CPU: CPU time of the worker process on one thread, which other work on the machine hardly moves; "
    "on an accelerator: time between two device events."
)

SUPPORTED = Family(
    name="inference_kernel_supported",
    type=Type.GAUGE,
    help="1 when the kernel worker can import torch, 0 when it cannot and kernel benches are off; absent "
    "until the first bench.",
)
FINGERPRINT = Family(
    name="inference_kernel_fingerprint_info",
    type=Type.GAUGE,
    help="1 for each device, with the fingerprint of what its times depend on: product, driver, runtime, "
    "torch, threads, power limit, governor, operating system and exporter. A new one begins a new "
    "baseline.",
    labels=("device", "fingerprint"),
)
INFO = Family(
    name="inference_kernel_info",
    type=Type.GAUGE,
    help="1 for each device that kernel benches can use, with its product name, the version of torch and the "
    "threads of one CPU operation.",
    labels=("device", "device_name", "torch_version", "threads"),
)
RUNS = Family(
    name="inference_kernel_runs_total",
    type=Type.COUNTER,
    help="Bench runs begun: one case in one variant on one device, with all its repeats.",
    labels=("suite", *_RUN),
    closed=(_VARIANTS,),
)
RUN_FAILURES = Family(
    name="inference_kernel_run_failures_total",
    type=Type.COUNTER,
    help="Bench runs that gave no valid time, by reason. contended, throttled and too_few_samples: something "
    "disturbed it; incorrect: the result differed from float64's, so it was not timed; over_peak: "
    "faster than the device can be; predicted_cost: not begun, a forecast said that it would not fit.",
    labels=("suite", *_RUN, "reason"),
    closed=(_VARIANTS, ("reason", tuple(FAILED_VERDICTS))),
)
BENCH_SECONDS = Family(
    name="inference_kernel_bench_seconds_total",
    type=Type.COUNTER,
    help="Wall time of all runs of the suite, the start of the worker included: what benching costs.",
    labels=("suite",),
    unit="seconds",
)
BENCH_JOULES = Family(
    name="inference_kernel_bench_joules_total",
    type=Type.COUNTER,
    help="Energy of the accelerators in the windows in which the suite measured it; not all that benching "
    "used.",
    labels=("suite",),
    unit="joules",
)
SKIPPED = Family(
    name="inference_kernel_skipped_total",
    type=Type.COUNTER,
    help="Runs of a suite that were left out, wholly (quiet_hours, cpu_busy) or on a device that others were "
    "using (accelerator_busy).",
    labels=("suite", "reason"),
    closed=(("reason", tuple(SkipReason)),),
)
LAST_RUN = Family(
    name="inference_kernel_last_run_timestamp_seconds",
    type=Type.GAUGE,
    help="Unix time at which a suite last ended, however it ended.",
    labels=("suite",),
    unit="seconds",
)
DURATION = Family(
    name="inference_kernel_duration_seconds",
    type=Type.HISTOGRAM,
    help=f"Time of one call, each repeat observed, by the backend that ran. {_CLOCK}",
    labels=(*_RUN, "backend"),
    unit="seconds",
    buckets=(
        *(0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005),
        *(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0),
    ),
    closed=(_VARIANTS, _BACKENDS),
)
MEDIAN = Family(
    name="inference_kernel_median_seconds",
    type=Type.GAUGE,
    help=f"Median time of one call over the repeats of the last run. {_CLOCK} Absent after a failed run.",
    labels=_RUN,
    unit="seconds",
    closed=(_VARIANTS,),
)
TOKENS_PER_SECOND = Family(
    name="inference_kernel_tokens_per_second",
    type=Type.GAUGE,
    help="New tokens of one call (batch x query length; padding is none) / median time of the last run. "
    "Absent after a failed run.",
    labels=_RUN,
    closed=(_VARIANTS,),
)
FLOPS_PER_SECOND = Family(
    name="inference_kernel_flops_per_second",
    type=Type.GAUGE,
    help="Floating-point operations of one call / median time of the last run. Counted in closed form: "
    "projections 2 B S D (2 D + 2 D_kv), attention 4 D for each query-key pair that is not masked; "
    "softmax and biases are not counted. Absent after a failed run and for a copy.",
    labels=_RUN,
    closed=(_VARIANTS,),
)
BYTES_PER_SECOND = Family(
    name="inference_kernel_bytes_per_second",
    type=Type.GAUGE,
    help="Bytes that any implementation has to move in one call / median time of the last run: weights, "
    "input, output, and the cache read once; for a copy, what is read and written. Absent after a "
    "failed run.",
    labels=_RUN,
    closed=(_VARIANTS,),
)
VALID = Family(
    name="inference_kernel_valid",
    type=Type.GAUGE,
    help="1 when the last run gave a time that can be trusted, 0 when it did not, for a reason that "
    "inference_kernel_run_failures_total has.",
    labels=_RUN,
    closed=(_VARIANTS,),
)
KEPT = Family(
    name="inference_kernel_samples_kept_ratio",
    type=Type.GAUGE,
    help="Share of the repeats of the last run in which the kernel did not take the CPU away; only those "
    "count.",
    labels=_RUN,
    unit="ratio",
    closed=(_VARIANTS,),
)
SPREAD = Family(
    name="inference_kernel_spread_ratio",
    type=Type.GAUGE,
    help="(Third quartile - first quartile) / median of the last run's repeats. Absent after a failed run.",
    labels=_RUN,
    unit="ratio",
    closed=(_VARIANTS,),
)
FOREIGN = Family(
    name="inference_kernel_foreign_cores",
    type=Type.GAUGE,
    help="Processors that everyone else used while the case was timed, time stolen by the hypervisor "
    "included. Above 5 % of the machine's, CPU times are refused as contended.",
    labels=("case", "device", "dtype"),
)
CONTENTION = Family(
    name="inference_kernel_wall_to_cpu_ratio",
    type=Type.GAUGE,
    help="Median wall time / median CPU time of the last run on the CPU: 1 when the worker had a core for "
    "itself, more when others wanted it. Absent on accelerators and after a failed run.",
    labels=_RUN,
    unit="ratio",
    closed=(_VARIANTS,),
)
CORRECT = Family(
    name="inference_kernel_correct",
    type=Type.GAUGE,
    help="1 when the result of the last run agreed with float64's (relative error at most 1e-5 for float32, "
    "3e-3 tf32, 1e-2 bfloat16 and float16) and not-a-number spread as it has to, else 0; absent when "
    "there was none.",
    labels=_RUN,
    closed=(_VARIANTS,),
)
RELATIVE_ERROR = Family(
    name="inference_kernel_relative_error",
    type=Type.GAUGE,
    help="Norm of the difference from the float64 result / norm of that result, in the last run. Absent when "
    "an output was not finite or the run gave no result.",
    labels=_RUN,
    closed=(_VARIANTS,),
)
BACKEND = Family(
    name="inference_kernel_backend",
    type=Type.GAUGE,
    help="1 for the implementation that ran in the last run, 0 for the others (eager: separate framework "
    "calls). Absent when the run gave no result.",
    labels=(*_RUN, "backend"),
    closed=(_VARIANTS, _BACKENDS),
)

KERNEL: tuple[Family, ...] = (
    *(SUPPORTED, INFO, FINGERPRINT),
    *(RUNS, RUN_FAILURES, SKIPPED, BENCH_SECONDS, BENCH_JOULES, LAST_RUN),
    *(DURATION, MEDIAN, SPREAD, KEPT, VALID, CONTENTION, FOREIGN),
    *(TOKENS_PER_SECOND, FLOPS_PER_SECOND, BYTES_PER_SECOND),
    *(CORRECT, RELATIVE_ERROR, BACKEND),
    *KERNEL_MEANING,
)
