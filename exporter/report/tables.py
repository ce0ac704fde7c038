"""A run as rows of text: what the terminal, Markdown and HTML show."""

from dataclasses import dataclass

from exporter.model.load_figures import PERCENTILES, cost_of, figures_of, level_name
from exporter.model.load_judgement import Finding, client_limits, judge
from exporter.model.load_plan import LoadPlan
from exporter.model.load_result import LoadRun, Step
from exporter.report.words import milliseconds, money, percent, significant

CLOCK_NAMES = {
    "ttft": "TTFT",
    "itl": "ITL",
    "tpot": "TPOT",
    "e2e": "E2E",
    "ttft_scheduled": "TTFT from due",
    "e2e_scheduled": "E2E from due",
}
NOT_PUBLISHED = "client"
"""In place of a latency that the client, not the server, is the reason of."""
CLIENT_REMEDY = (
    f"`{NOT_PUBLISHED}` stands for the latencies of such a step; drive from a machine with idle cores that "
    "the server does not share, with more --workers where there are many streams"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column heads, and cells; the first column is text, the others are figures."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def summary(run: LoadRun) -> tuple[str, ...]:
    """Return what the run was, one line each."""
    plan, host = run.plan, run.fingerprint
    against = "" if run.served_b is None else f" against {run.served_b.target} ({run.served_b.base_url})"
    asked = " + ".join(f"{p.max_tokens}" for p in plan.prompts[:3]) + (
        " ..." if len(plan.prompts) > 3 else ""
    )
    stream = "streamed" if plan.stream else "not streamed"
    workers = "worker" if plan.workers == 1 else "workers"
    what = (
        f"scenario {plan.scenario}: {plan.api.value}, {stream}, {plan.mode.value} loop, "
        f"at most {asked} tokens an answer, timeout {plan.timeout_s:g} s, {plan.workers} {workers}"
    )
    where = (
        f"driven from {host.cores} x {host.host_cpu}, {host.system}, Python {host.python}, "
        f"exporter {host.exporter}; load average {host.load_before:.2f} before, {host.load_after:.2f} after"
    )
    who = f"{run.served.target} ({run.served.base_url}), model {run.served.model}{against}"
    return (who, what, where)


def findings(run: LoadRun) -> tuple[str, ...]:
    """Return what the figures say, in words."""
    judged = judge(run.plan, run.steps)
    lines = [found.words for found in judged]
    if any(found.finding is Finding.CLIENT_LIMITED for found in judged):
        lines.append(CLIENT_REMEDY)
    if run.knee is not None:
        lines.append(run.knee.words)
    if run.stopped:
        lines.append(f"ended early: {run.stopped}; what was measured until then is kept")
    return tuple(lines)


def throughput(run: LoadRun) -> Table:
    """Return requests, success and tokens a step."""
    rows = []
    for step in run.steps:
        figures = figures_of(step.tally)
        rows.append(
            (
                step_name(run, step),
                str(figures.n),
                percent(figures.success_ratio),
                significant(figures.qps),
                significant(figures.goodput_qps) if run.plan.good else "-",
                percent(figures.goodput_ratio) if run.plan.good else "-",
                significant(figures.achieved_concurrency),
                significant(figures.output_tokens_per_s),
                percent(figures.invalid_ratio),
            )
        )
    heads = ("load", "n", "success", "QPS", "goodput/s", "good", "in flight", "tokens/s out", "invalid")
    return Table("Throughput", heads, tuple(rows))


def latency(run: LoadRun, clock: str) -> Table | None:
    """Return one clock's percentiles in ms, each failure infinitely late; None without any value."""
    rows = []
    for step in run.steps:
        spread = figures_of(step.tally).clocks[clock]
        if not spread.n:
            continue
        if client_limits(run.plan, step):
            rows.append((step_name(run, step), str(spread.n), *[NOT_PUBLISHED] * len(PERCENTILES)))
            continue
        cells = []
        for label, _ in PERCENTILES:
            with_failures = milliseconds(spread.with_failures[label])
            alone = milliseconds(spread.success_only[label])
            cells.append(alone if alone == with_failures else f"{with_failures} ({alone})")
        rows.append((step_name(run, step), str(spread.n), *cells))
    if not rows:
        return None
    heads = ("load", "n", *(label for label, _ in PERCENTILES))
    return Table(f"{CLOCK_NAMES[clock]}, ms", heads, tuple(rows))


def errors(run: LoadRun) -> Table | None:
    """Return failures by class; None where nothing failed."""
    rows = tuple(
        (step_name(run, step), ended.outcome.value, str(ended.count), percent(ended.count / step.tally.ended))
        for step in run.steps
        for ended in step.tally.outcomes
        if ended.outcome.is_failure
    )
    return Table("Failures", ("load", "class", "requests", "share"), rows) if rows else None


def costs(run: LoadRun) -> Table | None:
    """Return money and energy; None where neither is known."""
    rows = []
    for step in run.steps:
        cost = cost_of(step, run.pricing)
        if cost.per_million_tokens is None and cost.joules_per_request is None:
            continue
        rows.append(
            (
                step_name(run, step),
                money(cost.per_million_tokens, run.pricing.currency),
                money(cost.per_million_good_requests, run.pricing.currency) if run.plan.good else "-",
                significant(cost.good_requests_per_money) if run.plan.good else "-",
                significant(cost.joules_per_request),
                significant(cost.tokens_per_joule),
                significant(cost.requests_per_watt),
            )
        )
    heads = (
        *("load", "cost of 1 M tokens", "of 1 M good requests", f"good requests per {run.pricing.currency}"),
        *("J/request", "tokens/J", "requests/s per W"),
    )
    return Table("Cost and energy", heads, tuple(rows)) if rows else None


def tables(run: LoadRun) -> tuple[Table, ...]:
    """Return every table that has something in it."""
    found = [throughput(run), *(latency(run, clock) for clock in CLOCK_NAMES), errors(run), costs(run)]
    return tuple(table for table in found if table is not None)


def step_name(run: LoadRun, step: Step) -> str:
    """Return which step it was."""
    return step_words(run.plan, step, sided=run.served_b is not None)


def step_words(plan: LoadPlan, step: Step, *, sided: bool) -> str:
    """Return a step in words."""
    side = f" {step.side.upper()}" if sided else ""
    repeat = f" #{step.repeat + 1}" if plan.repeats > 1 else ""
    return f"{level_name(plan, step.level)}{side}{repeat}"
