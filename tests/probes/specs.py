"""Targets, specs and doors for probe tests."""

from collections.abc import Callable

from pydantic import BaseModel

from exporter.model.request import PlainRequest, Request
from exporter.model.target import Connection, ProbeSpec, Target
from exporter.model.transcript import Transcript
from exporter.probes import KINDS
from exporter.probes.base import Api, Doors


def target(base_url: str = "http://127.0.0.1:1/v1", **more: object) -> Target:
    return Target(**({"name": "t", "base_url": base_url, "model": "m"} | more))


def spec(kind: str = "chat", params: BaseModel | None = None, **more: object) -> ProbeSpec:
    chosen = KINDS[kind].params() if params is None else params
    fields = {
        "name": "p",
        "kind": kind,
        "every_s": 15.0,
        "timeout_s": 10.0,
        "stall_timeout_s": 5.0,
        "connection": Connection.REUSE,
        "params": chosen,
    }
    fields |= {} if "clocks" in more else {"clocks": KINDS[kind].clocks(chosen)}
    return ProbeSpec(**(fields | more))


class FakeApi:
    """Answers every request with what it was given, and remembers what was asked."""

    def __init__(self, answer: Transcript) -> None:
        self._answer = answer
        self.requests: list[Request | PlainRequest] = []

    @property
    def bodies(self) -> list[dict[str, object]]:
        return [dict(request.body) for request in self.requests if isinstance(request, Request)]

    async def send(self, target: Target, spec: ProbeSpec, request: Request | PlainRequest) -> Transcript:
        self.requests.append(request)
        return self._answer


def doors(api: Api, unix_s: Callable[[], float] = lambda: 1_700_000_000.0) -> Doors:
    return Doors(api=api, unix_s=unix_s)
