"""Which cases a suite runs: data only."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from exporter.model.attention import AttentionShape
from exporter.model.configuration import BenchPlan
from exporter.model.kernel import KernelCase, KernelRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases that run together.  No run of the suite starts later than ``deadline_s`` after its begin."""

    name: str
    cases: tuple[KernelCase, ...]
    deadline_s: float

    def runs_on(self, devices: tuple[str, ...]) -> tuple[KernelRun, ...]:
        """Return every case in every variant on every one of the devices, device by device."""
        return tuple(
            KernelRun(case=case, variant=variant, device=device)
            for device in devices
            for case in self.cases
            for variant in case.variants
        )


def _article(name: str, dim: int) -> KernelCase:
    shape = AttentionShape(batch=4, query_len=128, kv_len=128, dim=dim, heads=8, kv_heads=8)
    return KernelCase(name=name, shape=shape, warmup=5, repeats=20, deadline_s=30.0)


ARTICLE = _article("article", 512)
"""Multi-head attention as the founding article benches it: dim 512, 8 heads, batch 4, sequence 128."""
ARTICLE_DIM1024 = _article("article_dim1024", 1024)
"""The article's second step: twice the width, four times the projections."""

SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        suite.name: suite
        for suite in (
            Suite(name="light", cases=(ARTICLE,), deadline_s=60.0),
            Suite(name="once", cases=(ARTICLE, ARTICLE_DIM1024), deadline_s=180.0),
        )
    }
)
"""Every suite there is, by the name that the configuration and the command line use."""


def known_runs(plan: BenchPlan) -> tuple[KernelRun, ...]:
    """Return the runs of a plan that are certain before a worker ran: of "every device", those on ``cpu``."""
    return SUITES[plan.suite].runs_on(plan.devices or ("cpu",))
