"""``load``: one bounded load test, with a live view, as tables or as JSON."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from exporter.load.order import LoadOrder
    from exporter.model.configuration import LoadSpec, TargetPlan
    from exporter.model.load_result import LoadRun
    from exporter.model.target import Target

OK, FAILED, INTERRUPTED = 0, 1, 130
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("target", required=False)
@click.argument("scenario", required=False, metavar="[LOAD]")
@click.option(
    "--config", type=_FILE, metavar="FILE", help="Configuration that names TARGET and perhaps LOAD."
)
@click.option("--base-url", metavar="URL", help="Endpoint, in place of a configured target.")
@click.option("--model", help="Model to ask for; with --base-url or OPENAI_BASE_URL.")
@click.option("--a", "side_a", metavar="TARGET", help="First target of an interleaved comparison.")
@click.option("--b", "side_b", metavar="TARGET", help="Second target: runs take turns, so drift hits both.")
@click.option("--api", type=click.Choice(("chat", "completions", "embeddings")), help="What is asked for.")
@click.option("--concurrency", metavar="N[,N...]", help="Clients of each step of a closed loop.")
@click.option("--rate", metavar="R[,R...]", help="Requests a second of each step of an open loop.")
@click.option("--arrivals", type=click.Choice(("poisson", "constant")), default="poisson", show_default=True)
@click.option("--requests", type=click.IntRange(1), help="Requests of a step.")
@click.option("--seconds", metavar="S", help="Longest time that a step sends.")
@click.option("--settle", metavar="S", help="Time at the start of a step that is not counted.")
@click.option("--timeout", metavar="S", help="Total deadline of a request.")
@click.option("--repeats", type=click.IntRange(1, 50), help="How often the steps are run.")
@click.option("--prompt", metavar="TEXT", help="What is asked.")
@click.option("--max-tokens", type=click.IntRange(1), help="Longest answer.")
@click.option("--temperature", type=click.FloatRange(0, 2))
@click.option("--no-stream", is_flag=True, help="Ask for whole answers.")
@click.option("--mix", type=_FILE, metavar="FILE", help="Prompts with weights, one JSON object a line.")
@click.option("--input-tokens", metavar="N[+-D]", help="Synthetic prompts of this length.")
@click.option("--output-tokens", metavar="N[+-D]", help="Longest answers of this length.")
@click.option(
    "--shared-prefix", type=click.FloatRange(0, 1), default=0.0, help="Share that prompts have in common."
)
@click.option("--trace", type=_FILE, metavar="FILE", help="Replay arrivals: Mooncake JSONL or BurstGPT CSV.")
@click.option("--good", multiple=True, metavar="CLOCK=TIME", help="What a good request keeps: ttft=500ms.")
@click.option("--knee", is_flag=True, help="Search for the largest load that keeps --good.")
@click.option("--workers", type=click.IntRange(1, 64), help="Processes that make the load.")
@click.option("--seed", type=int, help="Of arrivals and mixes.")
@click.option(
    "--max-seconds",
    metavar="S",
    help="Bound of the run; like the next three never above the configuration's.",
)
@click.option("--max-requests", type=click.IntRange(1))
@click.option("--max-tokens-total", type=click.IntRange(1))
@click.option("--max-money", type=click.FloatRange(0, min_open=True))
@click.option(
    "--cost", multiple=True, metavar="NAME=VALUE", help="Prices or hardware: capex=30000, watts=700 ..."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write the run file here."
)
@click.option("--json", "as_json", is_flag=True, help="Print the run file (inference-exporter/load/1).")
def load(**given: Any) -> None:
    """Run one load test against a target of the configuration or an endpoint.

    Without --config and --base-url, OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY name the endpoint.  The
    run is bounded before it begins; Ctrl-C ends it and keeps what was measured.

    Exit status: 0 measured to the end; 1 could not begin, ended early, or nothing succeeded; 130 interrupted.
    """
    from rich.console import Console

    from exporter.cli.load_view import View, print_run, wide_console
    from exporter.load.order import LoadError
    from exporter.load.runfile import dumps

    as_json, out = given.pop("as_json"), given.pop("out")
    try:
        order = _order(given)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        with View(order.plan, Console(stderr=True)) as view:
            run, interrupted = asyncio.run(_run(order, view.show))
    except LoadError as error:
        raise click.ClickException(str(error)) from None
    text = dumps(run)
    if as_json:
        click.echo(text)
    else:
        print_run(run, wide_console())
    if out is not None:
        try:
            out.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            # After printing: what was measured must not be lost over a path.
            raise click.FileError(str(out), f"{error.strerror}; choose another path with --out") from error
    sys.exit(INTERRUPTED if interrupted else _status(run))


async def _run(order: "LoadOrder", show: Any) -> "tuple[LoadRun, bool]":
    from contextlib import AsyncExitStack

    from exporter.load.runner import LoadRunner
    from exporter.model.power_plan import Gpus
    from exporter.power.standalone import local_meter

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        powers = [side.power for side in (order.target, order.other) if side is not None]
        if any(isinstance(power, Gpus) for power in powers):
            order = replace(order, meter=await stack.enter_async_context(local_meter()))
        return await LoadRunner().run(order, stop=stop, watch=show), stop.is_set()


def _status(run: "LoadRun") -> int:
    from exporter.model.load_figures import is_complete

    succeeded = sum(step.tally.succeeded for step in run.steps)
    return OK if succeeded and is_complete(run) else FAILED


def _order(given: dict[str, Any]) -> "LoadOrder":
    """Return what is asked for.  Raises ValueError and ConfigError."""
    from exporter.cli.load_options import Flags, plan_of, pricing_of
    from exporter.load.order import LoadOrder

    who = {name: given.pop(name) for name in ("target", "scenario", "config", "base_url", "model")}
    side_a, side_b, cost = given.pop("side_a"), given.pop("side_b"), given.pop("cost")
    if side_a is not None and who["target"] is not None:
        raise ValueError("TARGET and --a are both given; remove one of the two")
    who["target"] = who["target"] or side_a
    plan_of_target, spec, others = _target(who)
    plan = plan_of(Flags(**given), None if spec is None else spec.plan, os.cpu_count() or 1)
    other = None
    if side_b is not None:
        other = _other(side_b, plan_of_target.target, others)
        plan = replace(plan, repeats=max(plan.repeats, 2))
    return LoadOrder(
        plan=plan,
        target=plan_of_target.target,
        other=other,
        pricing=pricing_of(plan_of_target.pricing, cost),
    )


def _target(who: dict[str, Any]) -> "tuple[TargetPlan, LoadSpec | None, tuple[TargetPlan, ...]]":
    from exporter.config.environment import BASE_URL, MODEL, from_environment
    from exporter.config.source import Source
    from exporter.kernels.suite import SUITES
    from exporter.probes import KINDS

    if who["config"] is None:
        if who["scenario"] is not None or (who["target"] is not None and who["base_url"] is None):
            raise ValueError(
                "a TARGET needs --config FILE; for an endpoint write --base-url URL --model NAME"
            )
        if who["base_url"] is not None and who["model"] is None and not os.environ.get(MODEL, "").strip():
            raise ValueError("--base-url needs --model NAME: the model to ask for")
        given = {BASE_URL: who["base_url"], MODEL: who["model"]}
        environ = {**os.environ, **{name: value for name, value in given.items() if value is not None}}
        (only,) = from_environment(environ, KINDS).targets
        return only, None, ()
    targets = Source(who["config"], KINDS, SUITES).load().targets
    found = _named(who["target"], targets)
    specs = [spec for spec in found.loads if who["scenario"] in {None, spec.plan.scenario}]
    if who["scenario"] is not None and not specs:
        names = ", ".join(spec.plan.scenario for spec in found.loads) or "none"
        raise ValueError(f"target {found.target.name} has no load {who['scenario']}; it has: {names}")
    if len(specs) > 1:
        names = ", ".join(spec.plan.scenario for spec in specs)
        raise ValueError(f"target {found.target.name} has several loads; name one of {names}")
    return found, specs[0] if specs else None, targets


def _named(name: str | None, targets: "tuple[TargetPlan, ...]") -> "TargetPlan":
    found = [plan for plan in targets if name in {None, plan.target.name}]
    if len(found) == 1:
        return found[0]
    names = ", ".join(plan.target.name for plan in targets)
    raise ValueError(f"name one target of the configuration: {names}")


def _other(name: str, first: "Target", targets: "tuple[TargetPlan, ...]") -> "Target":
    """Return the second target: a configured one, or the first one's settings at another URL."""
    if name.startswith(("http://", "https://")):
        return replace(first, name="b", base_url=name)
    return _named(name, targets).target
