"""Peaks of known devices, by the exact name that the driver gives.

Dense rates in TFLOP/s and bandwidth in GB/s, from data sheets as quoted by third parties (torchtitan,
Lightning, tritonbench and others that cite them), hence the source ``third_party``; what nobody quotes with a
source is left out.  A name that is not here has no peak: guessing one is how other tools report 150 %.
A name has to match as a whole, so neither A100X nor A10G, L40, T4G, a laptop chip or a MIG slice takes the
numbers of its relative.
"""

import re
from collections.abc import Mapping

from exporter.model.kernel import Dtype
from exporter.model.roofline import Peak

THIRD_PARTY = "third_party"

_NUMBERS = (Dtype.FLOAT32, Dtype.TF32, Dtype.BFLOAT16, Dtype.FLOAT16, Dtype.FLOAT8)

# name as a pattern: fp32, tf32, bf16, fp16, fp8 in TFLOP/s, then GB/s; None: not supported, or without source
_TABLE: tuple[tuple[str, tuple[float | None, ...], float], ...] = (
    (r"a100 sxm4 40gb", (19.5, 156, 312, 312, None), 1555),
    (r"a100 sxm4 80gb", (19.5, 156, 312, 312, None), 2039),
    (r"a100 pcie 40gb", (19.5, 156, 312, 312, None), 1555),
    (r"a100 (80gb pcie|pcie 80gb)", (19.5, 156, 312, 312, None), 1935),
    (r"h100 80gb hbm3", (67, 494.7, 989.4, 989.4, 1979), 3350),
    (r"h100 pcie", (51, 378, 756, 756, 1513), 2000),
    (r"h100 nvl", (None, 418, 835, 835, 1671), 3900),
    (r"h200", (67, 494.7, 989.4, 989.4, 1979), 4800),
    (r"h200 nvl", (None, 418, 835.5, 835.5, 1671), 4800),
    (r"b200", (None, 1125, 2250, 2250, 4500), 8000),
    (r"b300( sxm6 ac)?", (None, 1125, 2250, 2250, 4500), 8000),
    (r"gb[23]00", (None, 1250, 2500, 2500, 5000), 8000),
    (r"l4", (30.3, 60, 121, 121, 242), 300),
    (r"l40s", (91.6, 183, 362, 362, 733), 864),
    (r"a10", (31.2, 62.5, 125, 125, None), 600),
    (r"(tesla )?t4", (8.1, None, None, 65, None), 320),
    (r"geforce rtx 4090", (82.6, 82.6, 165.2, 165.2, 330), 1008),
    (r"geforce rtx 5090", (105, 105, 209.5, 209.5, 419), 1792),
    (r"rtx 6000 ada generation", (91.1, 182, 364, 364, 728.5), 960),
    (r"rtx pro 6000 blackwell workstation edition", (125, 250, 500, 500, 1000), 1792),
    # One of the two dies, which is what the driver enumerates.
    (r"instinct mi250x( / mi250)?", (None, None, 191.5, 191.5, None), 1600),
    (r"instinct mi300x( oam)?", (163.4, 653.7, 1307.4, 1307.4, 2614.9), 5300),
    (r"instinct mi325x( oam)?", (163.4, 653.7, 1307, 1307, 2615), 6000),
    (r"instinct mi350x( oam)?", (None, None, 2300, 2300, None), 8000),
    (r"instinct mi355x( oam)?", (157.3, None, 2500, 2500, 5000), 8000),
)


def normal_name(name: str) -> str:
    """Return a device name as the table spells it: no vendor, no capitals, single spaces for dashes."""
    words = re.sub(r"[\s_-]+", " ", name.casefold()).strip()
    return re.sub(r"^(nvidia|amd) ", "", words)


def peak_of(name: str, own: Mapping[str, Peak]) -> Peak | None:
    """Return the peak of the device with this name; None when it is not known.

    ``own`` is the operator's word, by device name in any spelling; it comes first.
    """
    normal = normal_name(name)
    for given, peak in own.items():
        if normal_name(given) == normal:
            return peak
    for pattern, tera, giga in _TABLE:
        if re.fullmatch(pattern, normal):
            rates = {dtype: rate * 1e12 for dtype, rate in zip(_NUMBERS, tera, strict=True) if rate}
            return Peak(flops_per_second=rates, bytes_per_second=giga * 1e9, source=THIRD_PARTY)
    return None
