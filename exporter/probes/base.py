"""What a probe kind is."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel

from exporter.model.answer import Answer
from exporter.model.clocks import Clock
from exporter.model.rate_limits import rate_limits_in
from exporter.model.request import PlainRequest, Request
from exporter.model.results import ConnectionFacts, ProbeResult, fingerprint
from exporter.model.server_timing import ServerTiming, timing_in_headers
from exporter.model.target import ProbeSpec, Target
from exporter.model.timeline import phases_of, timing_of, tokens_of
from exporter.model.transcript import Fault, Transcript
from exporter.model.verdict import Verdict
from exporter.probes.prompt import Lengths

Mine = TypeVar("Mine", bound=BaseModel)


def mine(params: object, wanted: type[Mine], kind: str) -> Mine:
    """Return a kind's own parameters.  Raises TypeError for those of another kind."""
    if not isinstance(params, wanted):
        raise TypeError(f"the {kind} probe takes its own Params, not {type(params).__name__}")
    return params


LARGE_BYTES = 262_144
"""Read in 0.1 s at the most; five times what 64 tokens come to."""
_READER = ThreadPoolExecutor(1, thread_name_prefix="large answers")


class Api(Protocol):
    """The door to a server, as a probe sees it."""

    async def send(self, target: Target, spec: ProbeSpec, request: Request | PlainRequest) -> Transcript:
        """Send one request, authenticated as the target says, and return what happened.

        Never raises for anything the network or the server did; ``spec.timeout_s`` is the total deadline.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """What a probe may reach: the network, the wall clock, randomness, and what earlier ones learnt."""

    api: Api
    unix_s: Callable[[], float]
    nonce: Callable[[], str] = lambda: secrets.token_hex(8)
    lengths: Lengths = field(default_factory=Lengths)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeKind:
    """One kind of probe: its parameters, the clocks they give, and its run."""

    name: str
    params: type[BaseModel]
    clocks: Callable[[BaseModel], frozenset[Clock]]
    run: Callable[[Target, ProbeSpec, Doors], Awaitable[ProbeResult]]


async def off_the_loop(transcript: Transcript, read: Callable[[], ProbeResult]) -> ProbeResult:
    """Return what ``read`` makes of a transcript, on a thread where that would hold up everybody else.

    A server may send as much as the wire takes, and 8 MiB in tiny events are read for 2.5 s.  One thread for
    all of them: the event loop competes with it for the interpreter.
    """
    if sum(len(piece.data) for piece in transcript.body) <= LARGE_BYTES:
        return read()
    return await asyncio.get_running_loop().run_in_executor(_READER, read)


def result_of(
    target: Target,
    spec: ProbeSpec,
    transcript: Transcript,
    answer: Answer,
    verdict: Verdict,
    *,
    finished_unix_s: float,
) -> ProbeResult:
    """Put together what a probe found; ``finished_unix_s`` is wall-clock time in seconds."""
    return ProbeResult(
        target=target,
        spec=spec,
        outcome=verdict.outcome,
        detail=verdict.detail,
        status=transcript.status,
        timing=timing_of(transcript, answer),
        phases=None if transcript.fault is Fault.NO_KEY else phases_of(transcript),
        tokens=tokens_of(answer),
        reused=None if transcript.peer is None else transcript.reused,
        stamps=None if transcript.headers_ns is None else transcript.stamps,
        lateness_s=tuple(late_ns / 1e9 for late_ns in transcript.lateness_ns),
        certificate_expiry_unix_s=transcript.certificate_expiry_unix_s,
        connection=ConnectionFacts(
            peer=transcript.peer,
            family=transcript.family,
            tls_version=transcript.tls_version,
            http_version=transcript.http_version,
        ),
        rate_limits=rate_limits_in(transcript, finished_unix_s),
        server=ServerTiming.merged((timing_in_headers(transcript), answer.server)),
        answered_by=None if answer.model is None else fingerprint(answer.model),
        finished_unix_s=finished_unix_s,
    )
