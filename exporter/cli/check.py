"""``check``: every problem of a configuration, or what it will run and cost."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from exporter.config.advice import advice
from exporter.config.forecast import DAY_S, Forecast, forecast
from exporter.config.problem import ConfigError
from exporter.config.source import Source
from exporter.config.units import duration
from exporter.model.configuration import BenchPlan, Configuration, LoadSpec, TargetPlan
from exporter.model.target import Objective
from exporter.model.token_estimate import CHARACTERS_PER_TOKEN


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Check configuration files.

    Prints every problem with its place and exits with 1 if there is any.  Otherwise prints what would run,
    how often, and what it would cost a day; nothing is sent.
    """
    from exporter.kernels.suite import SUITES
    from exporter.probes import KINDS

    failed = False
    for path in files:
        try:
            configuration = Source(path, KINDS, SUITES).load()
        except ConfigError as error:
            failed = True
            for line in error.lines:
                click.echo(line, err=True)
        else:
            for line in configuration.target_file_problems:
                failed = True
                click.echo(line, err=True)
            for line in _plan(path, configuration):
                click.echo(line)
            for line in advice(configuration, os.environ):
                click.echo(f"{path}: warning: {line}", err=True)
    if failed:
        raise SystemExit(1)


def _plan(path: Path, configuration: Configuration) -> Iterable[str]:
    """Yield the lines that say what will run."""
    forecasts = forecast(configuration)
    host, port = configuration.web.host, configuration.web.port
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    yield f"{path}: ok, listens on {address}"
    if forecasts:
        yield from _table([_PROBE_HEAD, *(_probe_row(f) for f in forecasts)])
        yield from _totals(forecasts)
    if configuration.power.enabled:
        yield f"  reads the power of this host's devices every {duration(configuration.power.every_s)}"
    if configuration.benches:
        yield from _table(
            [("BENCH", "EVERY", "RUNS/DAY", "DEVICES"), *map(_bench_row, configuration.benches)]
        )
    tests = [(plan, spec) for plan in configuration.targets for spec in plan.loads]
    if tests:
        yield from _table([_LOAD_HEAD, *(_load_row(plan, spec) for plan, spec in tests)])


_PROBE_HEAD = ("TARGET", "PROBE", "KIND", "EVERY", "REQUESTS/DAY", "TOKENS/DAY", "COST/DAY", "PROMISES")


def _probe_row(day: Forecast) -> tuple[str, ...]:
    prices = day.target.prices
    return (
        day.target.name,
        day.spec.name,
        day.spec.kind,
        duration(day.spec.every_s),
        f"{day.requests:,.0f}",
        f"{day.input_tokens + day.output_tokens:,.0f}",
        "-" if day.cost is None or prices is None else f"{day.cost:,.2f} {prices.currency}",
        ", ".join(map(_promise, day.spec.objectives)) or "-",
    )


def _bench_row(bench: BenchPlan) -> tuple[str, ...]:
    devices = ", ".join(bench.devices) or "every device found"
    return (bench.suite, duration(bench.every_s), f"{DAY_S / bench.every_s:,.0f}", devices)


_LOAD_HEAD = ("TARGET", "LOAD", "WHEN", "STEPS", "MOST A RUN")


def _load_row(plan: TargetPlan, spec: LoadSpec) -> tuple[str, ...]:
    when = f"cron {spec.cron} UTC" if spec.cron is not None else "on command"
    if spec.every_s is not None:
        when = f"every {duration(spec.every_s)}"
    load, bounds = spec.plan, spec.plan.bounds
    levels = ", ".join(f"{level:g}" for level in load.levels)
    what = f"knee between {levels}" if load.find_knee else levels
    unit = "requests/s" if load.mode.is_open else "clients"
    most = f"{duration(bounds.seconds)}, {bounds.requests:,} requests, {bounds.tokens:,} tokens"
    if bounds.money is not None:
        most += f", {bounds.money:g} {plan.pricing.currency}"
    return (plan.target.name, load.scenario, when, f"{what} {unit}", most)


def _promise(objective: Objective) -> str:
    percent = f"{objective.ratio * 100:.9g}"
    if objective.clock is None or objective.threshold_s is None:
        return f"{objective.sli} {percent}%"
    return f"{objective.clock} p{percent} <= {duration(objective.threshold_s)}"


def _totals(days: Sequence[Forecast]) -> Iterable[str]:
    requests = sum(day.requests for day in days)
    per_minute = requests * 60 / DAY_S
    yield f"  {per_minute:,.1f} requests a minute, {requests:,.0f} a day, spread evenly over the intervals"
    if any(day.input_tokens + day.output_tokens for day in days):
        yield (
            "  tokens and cost: output as long as max_tokens allows, "
            f"input estimated at {CHARACTERS_PER_TOKEN} characters a token"
        )
    cost: dict[str, float] = {}
    for day in days:
        if day.cost is not None and day.target.prices is not None:
            cost[day.target.prices.currency] = cost.get(day.target.prices.currency, 0.0) + day.cost
    if cost:
        yield (
            "  up to about "
            + " and ".join(f"{money:,.2f} {currency}" for currency, money in cost.items())
            + " a day"
        )


def _table(rows: Sequence[tuple[str, ...]]) -> Iterable[str]:
    """Yield rows with their columns aligned and two spaces in between."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
