"""What a probe kind is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from exporter.model.clocks import Clock
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.model.transcript import Transcript


class Api(Protocol):
    """The door to an OpenAI-compatible server, as a probe sees it."""

    async def chat(self, target: Target, spec: ProbeSpec, body: dict[str, object]) -> Transcript:
        """Send one chat completion request, built and authenticated by the SDK, and return what happened.

        Never raises for anything the network or the server did; ``spec.timeout_s`` is the total deadline.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """What a probe may reach: the network and the wall clock, nothing else."""

    api: Api
    unix_s: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeKind:
    """One kind of probe: its parameters, the clocks they give, and its run."""

    name: str
    params: type[BaseModel]
    clocks: Callable[[BaseModel], frozenset[Clock]]
    run: Callable[[Target, ProbeSpec, Doors], Awaitable[ProbeResult]]
