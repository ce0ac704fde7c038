"""What the flags of ``load`` say, made into a plan."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from exporter.config.units import seconds
from exporter.load.files import read_mix, read_trace
from exporter.load.lengths import drawn_prompts
from exporter.model.clocks import Clock
from exporter.model.load_plan import Api, Bounds, LoadPlan, Mode, Prompt, Within
from exporter.model.load_result import Pricing

_GOOD = re.compile(r"(ttft|itl|tpot|e2e)=(.+)")
_PRICING = {field.name for field in fields(Pricing)}
WORKER_STREAMS = 128
"""A worker drove 256 streams with an error below 0.1 ms on one core; more of them before it is half busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The flags as given; None where they were not."""

    api: str | None
    concurrency: str | None
    rate: str | None
    arrivals: str
    requests: int | None
    seconds: str | None
    settle: str | None
    timeout: str | None
    prompt: str | None
    max_tokens: int | None
    temperature: float | None
    no_stream: bool
    mix: Path | None
    input_tokens: str | None
    output_tokens: str | None
    shared_prefix: float
    trace: Path | None
    good: Sequence[str]
    knee: bool
    repeats: int | None
    workers: int | None
    seed: int | None
    max_seconds: str | None
    max_tokens_total: int | None
    max_requests: int | None
    max_money: float | None


def plan_of(flags: Flags, base: LoadPlan | None, cores: int) -> LoadPlan:
    """Return the plan: the configured one, if any, with what the flags change; its bounds stay above all.

    Raises ValueError that says what is wrong with a flag.
    """
    cap = base.bounds if base is not None else Bounds()
    plan = base or LoadPlan(scenario="command", bounds=cap)
    changes: dict[str, object] = {"bounds": _bounds(flags, cap)}
    changes |= _levels(flags)
    given = {
        "api": Api(flags.api) if flags.api else None,
        "requests_per_step": flags.requests,
        "seconds_per_step": _span(flags.seconds, "--seconds"),
        "settle_s": _span(flags.settle, "--settle"),
        "timeout_s": _span(flags.timeout, "--timeout"),
        "repeats": flags.repeats,
        "seed": flags.seed,
        "temperature": flags.temperature,
        "prompts": _prompts(flags, plan),
        "good": _good(flags.good) or None,
        "find_knee": flags.knee or None,
        "stream": False if flags.no_stream or flags.api == "embeddings" else None,
    }
    changes |= {name: value for name, value in given.items() if value is not None}
    plan = replace(plan, **changes)  # type: ignore[arg-type]
    return replace(plan, workers=flags.workers or plan.workers if base else _workers(flags, plan, cores))


def pricing_of(base: Pricing, given: Sequence[str]) -> Pricing:
    """Return the pricing with ``NAME=VALUE`` flags.  Raises ValueError."""
    changes: dict[str, object] = {}
    for item in given:
        name, _, value = item.partition("=")
        if name not in _PRICING:
            raise ValueError(f"--cost {item}: write one of {', '.join(sorted(_PRICING))}, such as watts=700")
        changes[name] = value if name == "currency" else float(value)
    return replace(base, **changes)  # type: ignore[arg-type]


def _levels(flags: Flags) -> dict[str, object]:
    if flags.trace is not None:
        trace = read_trace(flags.trace)
        return {
            "mode": Mode.TRACE,
            "trace": trace,
            "levels": (len(trace) / max(trace[-1].at_s, 1.0),),
            "requests_per_step": len(trace),
            "seconds_per_step": trace[-1].at_s + 60.0,
        }
    if flags.rate is not None and flags.concurrency is not None:
        raise ValueError("--rate and --concurrency are both given; remove one of the two")
    if flags.rate is not None:
        return {"mode": Mode(flags.arrivals), "levels": _numbers(flags.rate, "--rate")}
    if flags.concurrency is not None:
        return {"mode": Mode.CLOSED, "levels": _numbers(flags.concurrency, "--concurrency")}
    return {}


def _prompts(flags: Flags, plan: LoadPlan) -> tuple[Prompt, ...] | None:
    if flags.mix is not None:
        return read_mix(flags.mix)
    most = flags.max_tokens or plan.prompts[0].max_tokens
    if flags.input_tokens is not None or flags.output_tokens is not None:
        return drawn_prompts(
            flags.input_tokens or "64",
            flags.output_tokens or str(most),
            shared_prefix=flags.shared_prefix,
            seed=flags.seed or plan.seed,
        )
    if flags.prompt is None and flags.max_tokens is None:
        return None
    text = flags.prompt or plan.prompts[0].text
    return (Prompt(text=text, max_tokens=most),)


def _bounds(flags: Flags, cap: Bounds) -> Bounds:
    asked = replace(
        cap,
        seconds=_span(flags.max_seconds, "--max-seconds") or cap.seconds,
        tokens=flags.max_tokens_total or cap.tokens,
        requests=flags.max_requests or cap.requests,
        money=flags.max_money or cap.money,
    )
    return asked.capped(cap)


def _good(given: Sequence[str]) -> tuple[Within, ...]:
    found = []
    for item in given:
        match = _GOOD.fullmatch(item)
        if match is None:
            raise ValueError(
                f"--good {item}: write a clock and a time, such as ttft=500ms (ttft, itl, tpot, e2e)"
            )
        try:
            found.append(Within(Clock(match[1]), seconds(match[2])))
        except ValueError as error:
            raise ValueError(f"--good {item}: {error}") from None
    return tuple(found)


def _numbers(text: str, flag: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"{flag} {text}: write numbers with commas, such as 1,2,4") from None


def _span(text: str | None, flag: str) -> float | None:
    if text is None:
        return None
    try:
        # A bare number is what people type at a prompt.
        return float(text) if re.fullmatch(r"[0-9.]+", text) else seconds(text)
    except ValueError as error:
        raise ValueError(f"{flag} {text}: {error}") from None


def _workers(flags: Flags, plan: LoadPlan, cores: int) -> int:
    if flags.workers is not None:
        return flags.workers
    streams = max(plan.levels) if plan.mode is Mode.CLOSED else plan.bounds.concurrency
    return max(1, min(cores - 1, round(streams / WORKER_STREAMS)))
