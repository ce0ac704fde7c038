import pytest

from exporter.model.kernel import Dtype
from exporter.model.peaks import THIRD_PARTY, peak_of
from exporter.model.roofline import Peak

# bfloat16 TFLOP/s and GB/s of names as drivers give them
KNOWN = {
    "NVIDIA A100-SXM4-40GB": (312, 1555),
    "A100-SXM4-40GB": (312, 1555),
    "NVIDIA A100-SXM4-80GB": (312, 2039),
    "NVIDIA A100-PCIE-40GB": (312, 1555),
    "NVIDIA A100 80GB PCIe": (312, 1935),
    "NVIDIA H100 80GB HBM3": (989.4, 3350),
    "NVIDIA H100 PCIe": (756, 2000),
    "NVIDIA H100 NVL": (835, 3900),
    "NVIDIA H200": (989.4, 4800),
    "NVIDIA H200 NVL": (835.5, 4800),
    "NVIDIA B200": (2250, 8000),
    "NVIDIA B300 SXM6 AC": (2250, 8000),
    "NVIDIA GB200": (2500, 8000),
    "NVIDIA GB300": (2500, 8000),
    "NVIDIA L4": (121, 300),
    "NVIDIA L40S": (362, 864),
    "NVIDIA A10": (125, 600),
    "Tesla T4": (None, 320),
    "NVIDIA T4": (None, 320),
    "NVIDIA GeForce RTX 4090": (165.2, 1008),
    "NVIDIA GeForce RTX 5090": (209.5, 1792),
    "NVIDIA RTX 6000 Ada Generation": (364, 960),
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": (500, 1792),
    "AMD Instinct MI250X": (191.5, 1600),
    "AMD Instinct MI250X / MI250": (191.5, 1600),
    "AMD Instinct MI300X": (1307.4, 5300),
    "AMD Instinct MI300X OAM": (1307.4, 5300),
    "AMD Instinct MI325X": (1307, 6000),
    "AMD Instinct MI350X": (2300, 8000),
    "AMD Instinct MI355X": (2500, 8000),
}
UNKNOWN = (
    *(
        "NVIDIA A10G",
        "NVIDIA A100X",
        "NVIDIA A100-SXM-64GB",
        "NVIDIA A30",
        "NVIDIA A40",
        "NVIDIA A2",
        "NVIDIA A16",
    ),
    *("NVIDIA A800-SXM4-80GB", "NVIDIA H800", "NVIDIA H20", "NVIDIA H100", "NVIDIA H100 80GB HBM2e"),
    *(
        "NVIDIA GH200 480GB",
        "NVIDIA GH200 144G HBM3e",
        "NVIDIA GB10",
        "NVIDIA L40",
        "NVIDIA L20",
        "NVIDIA L2",
    ),
    *(
        "NVIDIA T400",
        "NVIDIA T4G",
        "NVIDIA T1000",
        "NVIDIA T400 4GB",
        "Tesla V100-SXM2-16GB",
        "Tesla P100-PCIE-16GB",
    ),
    *(
        "Quadro RTX 6000",
        "NVIDIA RTX A6000",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
    ),
    *("NVIDIA GeForce RTX 5090 D", "NVIDIA GeForce RTX 5090 Laptop GPU", "NVIDIA GeForce RTX 3090"),
    *(
        "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    ),
    *(
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA H200 MIG 1g.18gb",
        "GRID A100D-10C",
        "NVIDIA Graphics Device",
    ),
    *("AMD Instinct MI300A", "AMD Instinct MI210", "AMD Radeon RX 7900 XTX", "Apple GPU (arm)", ""),
    *("Intel(R) Data Center GPU Max 1550", "AMD EPYC 7B13"),
)


def test_there_are_sixty_names_and_more():
    assert len(KNOWN) + len(set(UNKNOWN)) >= 60


@pytest.mark.parametrize(("name", "rates"), KNOWN.items(), ids=KNOWN.keys())
def test_a_known_device_has_its_own_peak_and_says_whose_word_it_is(name, rates):
    peak, (tera, giga) = peak_of(name, {}), rates
    assert peak.flops_per_second.get(Dtype.BFLOAT16) == (None if tera is None else pytest.approx(tera * 1e12))
    assert peak.bytes_per_second == pytest.approx(giga * 1e9)
    assert peak.source == THIRD_PARTY


@pytest.mark.parametrize("name", UNKNOWN)
def test_any_other_device_has_none(name):
    assert peak_of(name, {}) is None


@pytest.mark.parametrize("name", ["nvidia h200", "NVIDIA  H200 ", "H200"])
def test_spelling_does_not_matter(name):
    assert peak_of(name, {}) == peak_of("NVIDIA H200", {})


def test_the_operator_has_the_last_word():
    own = Peak(flops_per_second={Dtype.BFLOAT16: 1e12}, source="operator")
    assert peak_of("NVIDIA H200", {"nvidia_h200": own}) is own
    assert peak_of("Some Chip", {"some chip": own}) is own
    assert peak_of("NVIDIA H200", {"H100": own}).source == THIRD_PARTY


def test_wider_numbers_are_never_faster():
    for name in KNOWN:
        rates = peak_of(name, {}).flops_per_second
        ladder = [rates[d] for d in (Dtype.FLOAT32, Dtype.TF32, Dtype.FLOAT16, Dtype.FLOAT8) if d in rates]
        assert ladder == sorted(ladder), name
