"""What is allowed but worth a second look: a configuration can be valid and still not do what was meant."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from exporter.config.address import is_loopback
from exporter.config.forecast import forecast_of
from exporter.config.reading import read_bounded
from exporter.config.units import duration
from exporter.model.configuration import Configuration, TargetPlan
from exporter.model.power_plan import Gpus
from exporter.model.target import KeySource, ProbeSpec, Target

_USUAL_NAME_LENGTH = 64


def advice(configuration: Configuration, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return one line for each thing worth a second look on this host, in the order of the file.

    Looks at the environment and the key files, but never repeats what they hold.
    """
    lines = [line for plan in configuration.targets for line in _of_plan(plan, environ)]
    lines += _overruns(configuration)
    lines += _unpowered(configuration)
    if not is_loopback(configuration.web.host):
        lines.append(
            f"web.listen: {configuration.web.host} can be reached from other hosts, and anyone there may read"
        )
    return tuple(lines)


def _of_plan(plan: TargetPlan, environ: Mapping[str, str]) -> Iterator[str]:
    for text in _of_target(plan.target, environ):
        yield f"target {plan.target.name}: {text}"
    is_openai = plan.target.azure is None and any(spec.kind != "http" for spec in plan.probes)
    if is_openai and not urlsplit(plan.target.base_url).path.strip("/"):
        yield (
            f"target {plan.target.name}: base_url has no path; "
            "most OpenAI-compatible servers answer under /v1"
        )
    yield from _of_budget(plan)
    for spec in plan.probes:
        for text in _of_probe(spec):
            yield f"target {plan.target.name}, probe {spec.name}: {text}"


def _of_budget(plan: TargetPlan) -> Iterator[str]:
    budget = plan.target.budget
    if budget is None:
        return
    days = [forecast_of(plan.target, spec) for spec in plan.probes]
    for name, limit, most in (
        ("tokens", budget.tokens_per_day, sum(day.input_tokens + day.output_tokens for day in days)),
        ("money", budget.money_per_day, sum(day.cost or 0.0 for day in days)),
    ):
        if limit is not None and most > limit:
            yield (
                f"target {plan.target.name}: a day of its probes can use {most:,.6g} {name}, the budget is "
                f"{limit:,.6g}: once it is spent they are not sent until midnight UTC"
            )


def _overruns(configuration: Configuration) -> Iterator[str]:
    """Yield one line for all probes together: with the defaults alone it holds for every probe."""
    slow = [
        f"{plan.target.name}/{spec.name}"
        for plan in configuration.targets
        for spec in plan.probes
        if spec.timeout_s > spec.every_s
    ]
    if slow:
        more = f" and {len(slow) - 1} more" if len(slow) > 1 else ""
        yield (
            f"timeout is longer than every in {slow[0]}{more}: a request that slow skips the next slots, "
            "which are counted and not made up for"
        )


def _unpowered(configuration: Configuration) -> Iterator[str]:
    for plan in configuration.targets:
        if isinstance(plan.target.power, Gpus) and not configuration.power.enabled:
            yield (
                f"target {plan.target.name}: power.gpus of it stay unknown, since power.enabled is false here"
            )


def _of_target(target: Target, environ: Mapping[str, str]) -> Iterator[str]:
    url = urlsplit(target.base_url)
    if target.key is not None and (missing := _key_missing(target.key, environ)):
        yield f"{missing}; until it is, every probe fails with reason auth"
    if target.key is not None and url.scheme == "http" and not is_loopback(url.hostname or ""):
        yield "the API key crosses the network in clear text; write https:// if the server has it"
    if target.tls.insecure:
        yield "tls.insecure accepts any certificate, so anyone in between can read the API key"


def _key_missing(key: KeySource, environ: Mapping[str, str]) -> str:
    """Return what stands between us and the key on this host, or an empty text."""
    if key.env is not None:
        if environ.get(key.env, "").strip():
            return ""
        # A key pasted where its variable's name belongs must not come back in a message.
        is_usual = key.env.isupper() and len(key.env) <= _USUAL_NAME_LENGTH
        return f"the environment variable {key.env if is_usual else 'of api_key_env'} is not set"
    try:
        is_empty = not read_bounded(Path(key.file or ""), 1)
    except (OSError, ValueError):
        return "api_key_file cannot be read; check that it is there and readable for this user"
    return "api_key_file is empty; write the key into it" if is_empty else ""


def _of_probe(spec: ProbeSpec) -> Iterator[str]:
    if spec.stall_timeout_s >= spec.timeout_s:
        yield (
            f"stall_timeout {duration(spec.stall_timeout_s)} is not shorter than timeout "
            f"{duration(spec.timeout_s)}, so it never strikes"
        )
    if spec.confirm is not None and not spec.objectives:
        yield "confirm has no effect: without an sla there is no breach to confirm"
    if spec.confirm is not None and spec.confirm.every_s >= spec.every_s:
        yield (
            f"confirm.every {duration(spec.confirm.every_s)} is not shorter than every "
            f"{duration(spec.every_s)}, so a breach is not looked at sooner"
        )
    for objective in spec.objectives:
        if objective.threshold_s is not None and objective.threshold_s >= spec.timeout_s:
            yield (
                f"{objective.sli} of {duration(objective.threshold_s)} is not shorter than timeout "
                f"{duration(spec.timeout_s)}, so only a failure can break it"
            )
