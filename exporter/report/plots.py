"""Which plots a run deserves."""

from collections.abc import Iterator

from exporter.model.load_figures import cost_of, figures_of
from exporter.model.load_judgement import client_limits
from exporter.model.load_result import LoadRun, Step
from exporter.report.svg import Line, Plot
from exporter.report.tables import step_name

_MOST_LINES = 6


def plots(run: LoadRun) -> tuple[Plot, ...]:
    """Return the plots that have something to show; latencies without steps that the client limited."""
    return tuple(plot for plot in _plots(run) if any(line.points for line in plot.lines))


def _plots(run: LoadRun) -> Iterator[Plot]:
    honest = [step for step in run.steps if not client_limits(run.plan, step)]
    for clock, title in (("ttft", "TTFT"), ("e2e", "End to end")):
        lines = tuple(_cdf(run, step, clock) for step in honest[:_MOST_LINES])
        lines = tuple(line for line in lines if line.points)
        x = f"{title}, ms"
        yield Plot(title=f"{title}: share of requests within", x=x, y="share", lines=lines, log_x=True)
    by_side = _sides(run)
    if all(len(steps) < 2 for steps in by_side.values()):
        return
    knee = run.knee.holds if run.knee is not None else None
    marks = () if knee is None else ((knee, "knee"),)
    level = "requests/s offered" if run.plan.mode.is_open else "clients"
    throughput, latency, cost = [], [], []
    for side, steps in by_side.items():
        name = f" {side.upper()}" if len(by_side) > 1 else ""
        figures = [(step.level, figures_of(step.tally), step) for step in steps]
        throughput.append(Line(f"QPS{name}", tuple((lv, f.qps) for lv, f, _ in figures if f.qps is not None)))
        if run.plan.good:
            good = tuple((lv, f.goodput_qps) for lv, f, _ in figures if f.goodput_qps is not None)
            throughput.append(Line(f"goodput{name}", good))
        for percentile in ("p50", "p99"):
            points = []
            for lv, f, step in figures:
                value = f.clocks["e2e"].success_only[percentile]
                if value is not None and not client_limits(run.plan, step):
                    points.append((lv, value * 1e3))
            latency.append(Line(f"{percentile}{name}", tuple(points)))
        paid = [(step.level, cost_of(step, run.pricing).per_million_tokens) for step in steps]
        cost.append(Line(f"cost{name}", tuple((lv, c) for lv, c in paid if c is not None)))
    yield Plot(title="Throughput over load", x=level, y="a second", lines=tuple(throughput), marks=marks)
    yield Plot(title="End to end over load, successes", x=level, y="ms", lines=tuple(latency), marks=marks)
    currency = f"{run.pricing.currency} for 1 M tokens"
    yield Plot(title="Cost over load", x=level, y=currency, lines=tuple(cost), marks=marks)


def _sides(run: LoadRun) -> dict[str, list[Step]]:
    """Return the steps of each side by rising level, the last repeat of each."""
    sides: dict[str, dict[float, Step]] = {}
    for step in run.steps:
        sides.setdefault(step.side, {})[step.level] = step
    return {side: [steps[level] for level in sorted(steps)] for side, steps in sides.items()}


def _cdf(run: LoadRun, step: Step, clock: str) -> Line:
    """Return the share within, over all requests: failures keep it below 1."""
    values = getattr(step.tally, clock)
    total, seen = values.n + step.tally.failed, 0
    points = []
    for value_s, count in values.values():
        seen += count
        points.append((value_s * 1e3, seen / total))
    every = max(1, len(points) // 200)
    return Line(step_name(run, step), (*points[:-1:every], *points[-1:]))
