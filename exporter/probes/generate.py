"""What the kinds that generate text have in common: parameters, clocks, and one request that is judged."""

from typing import Annotated

from pydantic import Field

from exporter.model.answer import Dialect, read_answer
from exporter.model.clocks import Clock
from exporter.model.request import Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.model.verdict import judge
from exporter.probes.base import Doors, off_the_loop, result_of
from exporter.probes.expect import Expect, held_against
from exporter.probes.prompt import Prompting, prompt_of


class Generating(Prompting):
    """Parameters that the text kinds share; the defaults are short enough to run every few seconds."""

    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """None leaves it out, for models that refuse it."""
    stream: bool = True
    extra_body: dict[str, object] = Field(default_factory=dict)
    """Server-specific fields, sent as they are."""
    expect: Expect | None = None


def refuse_taken(params: Generating, ours: frozenset[str]) -> None:
    """Raise ValueError when ``extra_body`` would replace what the probe itself sets."""
    if taken := sorted(ours & params.extra_body.keys()):
        raise ValueError(f"extra_body may not hold {', '.join(taken)}: the probe sets it")


def clocks_of(params: Generating) -> frozenset[Clock]:
    """Return the clocks: without a stream end to end alone, with a single token no gap."""
    if not params.stream:
        return frozenset({Clock.E2E})
    several = {Clock.ITL, Clock.TPOT} if params.max_tokens > 1 else set()
    return frozenset({Clock.TTFT, Clock.TTFC, Clock.E2E} | several)


def prompt_now(params: Generating, target: Target, spec: ProbeSpec, doors: Doors) -> str:
    """Return the prompt for a request that is sent now."""
    return prompt_of(params, target, spec, unix_s=doors.unix_s(), nonce=doors.nonce(), lengths=doors.lengths)


async def ask(
    target: Target, spec: ProbeSpec, doors: Doors, *, params: Generating, request: Request, dialect: Dialect
) -> ProbeResult:
    """Send the request once, never again, and judge what came back."""
    transcript = await doors.api.send(target, spec, request)
    finished_unix_s = doors.unix_s()

    def read() -> ProbeResult:
        answer = read_answer(transcript, dialect)
        verdict = judge(transcript, answer, wants_stream=params.stream, stall_timeout_s=spec.stall_timeout_s)
        verdict = held_against(params.expect, verdict, answer)
        return result_of(target, spec, transcript, answer, verdict, finished_unix_s=finished_unix_s)

    result = await off_the_loop(transcript, read)
    doors.lengths.learn(target, spec, result.tokens)
    return result
