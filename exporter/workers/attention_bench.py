"""One run: is the result right, and if so, how long does it take."""

import time
from collections.abc import Callable

import torch
from torch import Tensor

from exporter.model.attention import AttentionShape
from exporter.model.kernel import Dtype, KernelRun, Measurement
from exporter.workers.attention_modules import MODULES, NaiveAttention

SEED = 20_240_501
_DTYPES = {Dtype.FLOAT32: torch.float32}


def measure(run: KernelRun) -> Measurement:
    """Check the run's result against float64 first, then time it.

    Inputs are random, never zero: on an accelerator zeros draw less power and run faster.  Weights and
    input are the same for every variant and device.
    """
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(SEED)
    device, dtype, shape = torch.device(run.device), _DTYPES[run.case.dtype], run.case.shape
    module = MODULES[run.variant](shape).to(dtype).eval()
    x = torch.randn(shape.batch, shape.query_len, shape.dim, dtype=dtype)
    with torch.no_grad():
        reference = _float64_result(module, shape, x)
        module.to(device)
        x = x.to(device)
        backend = module.backend(x)
        error = relative_error(module(x).to("cpu", torch.float64), reference)
        if error is None or error > run.case.dtype.tolerance:
            return Measurement(backend=backend, relative_error=error, correct=False)
        for _ in range(run.case.warmup):
            module(x)
        if device.type == "cuda":
            times = _time_on_cuda(lambda: module(x), run.case.repeats, device)
        else:
            times = _time_on_cpu(lambda: module(x), run.case.repeats)
    return Measurement(backend=backend, relative_error=error, correct=True, **times)


def relative_error(result: Tensor, reference: Tensor) -> float | None:
    """Return the norm of the difference over the norm of the reference; None when not all is finite."""
    if not torch.isfinite(result).all():
        return None
    return float(torch.linalg.vector_norm(result - reference) / torch.linalg.vector_norm(reference))


def _float64_result(module: NaiveAttention, shape: AttentionShape, x: Tensor) -> Tensor:
    exact = NaiveAttention(shape)
    exact.load_state_dict(module.state_dict())
    result: Tensor = exact.double().eval()(x.double())
    return result


def _time_on_cpu(call: Callable[[], object], repeats: int) -> dict[str, tuple[float, ...]]:
    wall, cpu = [], []
    for _ in range(repeats):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        call()
        cpu_end, wall_end = time.process_time(), time.perf_counter()
        wall.append(wall_end - wall_start)
        cpu.append(cpu_end - cpu_start)
    return {"wall_s": tuple(wall), "cpu_s": tuple(cpu)}


def _time_on_cuda(
    call: Callable[[], object], repeats: int, device: torch.device
) -> dict[str, tuple[float, ...]]:
    wall, cpu, on_device = [], [], []
    with torch.cuda.device(device):
        for _ in range(repeats):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
            torch.cuda.synchronize()
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            start.record()
            call()
            end.record()
            torch.cuda.synchronize()
            cpu_end, wall_end = time.process_time(), time.perf_counter()
            wall.append(wall_end - wall_start)
            cpu.append(cpu_end - cpu_start)
            on_device.append(start.elapsed_time(end) / 1000)
    return {"wall_s": tuple(wall), "cpu_s": tuple(cpu), "device_s": tuple(on_device)}
