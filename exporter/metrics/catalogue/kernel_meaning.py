"""Families that say what a kernel's time means: against device, data sheet, energy and past."""

from exporter.metrics.family import Family, Type
from exporter.model.kernel import Variant
from exporter.model.roofline import Bound

RUN_LABELS = ("case", "variant", "device", "dtype")
VARIANT_VALUES = ("variant", tuple(Variant))

INTENSITY = Family(
    name="inference_kernel_intensity_flops_per_byte",
    type=Type.GAUGE,
    help="FLOP of one call / bytes that it has to move. Absent after a failed run.",
    labels=RUN_LABELS,
    closed=(VARIANT_VALUES,),
)
ROOFLINE = Family(
    name="inference_kernel_roofline_ratio",
    type=Type.GAUGE,
    help="Least possible time / median time. The least is max(FLOP / best matrix product, bytes / copy), "
    "both measured on the device in the same run. Above 1 where caches beat the copy. Absent without "
    "ceilings.",
    labels=RUN_LABELS,
    unit="ratio",
    closed=(VARIANT_VALUES,),
)
BOUND = Family(
    name="inference_kernel_bound",
    type=Type.GAUGE,
    help="1 for what limits a call at best by the measured ceilings, 0 for the other. Absent without "
    "ceilings.",
    labels=(*RUN_LABELS, "bound"),
    closed=(VARIANT_VALUES, ("bound", tuple(Bound))),
)
MFU = Family(
    name="inference_kernel_mfu_ratio",
    type=Type.GAUGE,
    help="FLOP/s / the device's peak for the number format. Absent where the peak is not known; a run above "
    "1 is refused as over_peak.",
    labels=RUN_LABELS,
    unit="ratio",
    closed=(VARIANT_VALUES,),
)
MBU = Family(
    name="inference_kernel_mbu_ratio",
    type=Type.GAUGE,
    help="Compulsory bytes/s / the device's peak bandwidth. Absent where the peak is not known; a run above "
    "1 is refused as over_peak.",
    labels=RUN_LABELS,
    unit="ratio",
    closed=(VARIANT_VALUES,),
)
CEILING_FLOPS = Family(
    name="inference_kernel_ceiling_flops_per_second",
    type=Type.GAUGE,
    help="Fastest matrix product of the last run, by number format. Absent when it had no valid time.",
    labels=("device", "dtype"),
)
CEILING_BYTES = Family(
    name="inference_kernel_ceiling_bytes_per_second",
    type=Type.GAUGE,
    help="Bytes read and written by the copy of the suite's last run. Absent when it had no valid time.",
    labels=("device",),
)
CEILING_DRIFT = Family(
    name="inference_kernel_ceiling_drift_ratio",
    type=Type.GAUGE,
    help="Largest change of a ceiling from the first to the last measurement in a run: how calm the run was. "
    "Only suites that measure them twice have it.",
    labels=("device",),
    unit="ratio",
)
PEAK_FLOPS = Family(
    name="inference_kernel_peak_flops_per_second",
    type=Type.GAUGE,
    help="Dense peak of the device by number format. source: operator (from the configuration) or "
    "third_party (data sheets as others quote them).",
    labels=("device", "dtype", "source"),
)
PEAK_BYTES = Family(
    name="inference_kernel_peak_bytes_per_second",
    type=Type.GAUGE,
    help="Peak memory bandwidth of the device. source as for the peak of operations.",
    labels=("device", "source"),
)
TOKENS_PER_JOULE = Family(
    name="inference_kernel_tokens_per_joule",
    type=Type.GAUGE,
    help="New tokens of one call / its energy, over a window between two steps of the energy counter. Absent "
    "without a meter, or when the window was under 2 s or 20 steps.",
    labels=RUN_LABELS,
    closed=(VARIANT_VALUES,),
)
ENERGY_WINDOW = Family(
    name="inference_kernel_energy_window_seconds",
    type=Type.GAUGE,
    help="Length of that window.",
    labels=RUN_LABELS,
    unit="seconds",
    closed=(VARIANT_VALUES,),
)
BASELINE = Family(
    name="inference_kernel_baseline_seconds",
    type=Type.GAUGE,
    help="Usual time: median of the medians of the last 20 valid runs that were not slow, under the same "
    "fingerprint. Absent until there are 5, and after a failed run.",
    labels=RUN_LABELS,
    unit="seconds",
    closed=(VARIANT_VALUES,),
)
REGRESSED = Family(
    name="inference_kernel_regressed",
    type=Type.GAUGE,
    help="1 when the first quartile of three valid runs in a row was above the usual third quartile by more "
    "than 5 % (accelerators), 15 % (CPU) or 20 % (CPU of a virtual machine), else 0. Absent after a "
    "failed run.",
    labels=RUN_LABELS,
    closed=(VARIANT_VALUES,),
)
KERNEL_MEANING: tuple[Family, ...] = (
    *(INTENSITY, BOUND, ROOFLINE, CEILING_FLOPS, CEILING_BYTES, CEILING_DRIFT),
    *(MFU, MBU, PEAK_FLOPS, PEAK_BYTES),
    *(TOKENS_PER_JOULE, ENERGY_WINDOW),
    *(BASELINE, REGRESSED),
)
