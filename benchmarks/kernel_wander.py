"""Ours, ``torch.utils.benchmark`` and the article's loop in one process, taking turns; prints table rows."""

import statistics
import time

import torch
import torch.utils.benchmark

from exporter.kernels.cases import ARTICLE
from exporter.model.kernel import KernelRun, Variant, Verdict
from exporter.model.kernel_report import Summary, undisturbed
from exporter.model.protocol import Measure
from exporter.model.validity import judge
from exporter.workers import group_bench
from exporter.workers.subjects import Workshop

REPEATS = 9


def ours() -> tuple[float, bool]:
    """Return our number, and whether it would have been refused."""
    question = Measure(case=ARTICLE, device="cpu", variants=(Variant.SDPA,))
    group = group_bench.measure(question)
    seen, run = group.seen[0], KernelRun(case=ARTICLE, variant=Variant.SDPA, device="cpu")
    verdict, _ = judge(run, seen, group.conditions, None)
    kept = undisturbed(seen.measurement)
    times = kept if len(kept) > 1 else seen.measurement.cpu_s
    return Summary.of(times).median_s, verdict is not Verdict.OK


def articles(call) -> float:
    """Warm-up 5, then the mean of 20 by the wall."""
    for _ in range(ARTICLE.warmup):
        call()
    start = time.perf_counter()
    for _ in range(ARTICLE.repeats):
        call()
    return (time.perf_counter() - start) / ARTICLE.repeats


def main() -> None:
    values: dict[str, list[float]] = {"ours": [], "torch.utils.benchmark": [], "the article's mean of 20": []}
    refused = 0
    with torch.no_grad():
        call = Workshop(ARTICLE, torch.device("cpu")).build(Variant.SDPA).call
        for _ in range(REPEATS):
            value, is_refused = ours()
            values["ours"].append(value)
            refused += is_refused
            timer = torch.utils.benchmark.Timer("call()", globals={"call": call})
            values["torch.utils.benchmark"].append(timer.blocked_autorange(min_run_time=0.25).median)
            values["the article's mean of 20"].append(articles(call))
    for name, given in values.items():
        variation = statistics.stdev(given) / statistics.mean(given)
        spread = (max(given) - min(given)) / statistics.median(given)
        shown = ", ".join(f"{value * 1e3:.1f}" for value in given)
        no = f"{refused} of {REPEATS}" if name == "ours" else "never"
        print(f"| {name} | {shown} | {no} | {variation:.1%} | {spread:.0%} |")


if __name__ == "__main__":
    main()
