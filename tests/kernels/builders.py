"""Kernel values for tests."""

from exporter.kernels.cases import ARTICLE
from exporter.model.kernel import Backend, KernelRun, Variant, Verdict
from exporter.model.kernel_report import BenchReport, KernelResult
from exporter.model.observation import Conditions, DeviceFound, Environment, Measurement, TimeSource

CPU = KernelRun(case=ARTICLE, variant=Variant.NAIVE, device="cpu")
CUDA = KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cuda:0")
CALM = Conditions(window_s=1.0, cores=2, foreign_cpu_s=0.05)
FOUND = Environment(
    torch_version="2.13.0",
    threads=1,
    devices=(DeviceFound(device="cpu", name="EPYC"), DeviceFound(device="cuda:0", name="H200")),
)


def measured(*, cpu=(0.02,) * 20, wall=None, device=(), **changes):
    given = {
        "backend": Backend.FLASH,
        "relative_error": 2e-7,
        "correct": True,
        "clock": TimeSource.DEVICE_EVENTS if device else TimeSource.PROCESS_CPU,
        "wall_s": wall if wall is not None else cpu,
        "cpu_s": cpu,
        "device_s": device,
    }
    return Measurement(**given | changes)


UNTIMED = {"correct": False, "cpu": (), "wall": ()}


def result(run=CPU, verdict=Verdict.OK, measurement=None, conditions=CALM, **changes):
    return KernelResult(
        run=run, verdict=verdict, measurement=measurement or measured(), conditions=conditions, **changes
    )


def report(*results, **changes):
    given = {
        "suite": "light",
        "supported": True,
        "environment": FOUND,
        "seconds": 2.5,
        "finished_unix_s": 1e9,
    }
    return BenchReport(results=results, **given | changes)
