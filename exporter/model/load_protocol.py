"""Messages between the load runner and its workers, one JSON line each.

The runner sends one ``Setup``, then ``StepOrder`` after ``StepOrder``, and may send ``Stop`` at any time.
The worker answers a setup with ``Ready`` or ``Unable``, a step with ``Progress`` lines and one ``StepDone``.
"""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from exporter.model.codec import DecodeError, decode, encode
from exporter.model.load_plan import Api, Arrival, Breaker, Mode, Prompt, Within
from exporter.model.load_result import Tally
from exporter.model.target import TlsOptions

VERSION = 1
M = TypeVar("M")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Whom to load and with what; the key travels here, so that it is in no argument list."""

    base_url: str
    model: str = field(repr=False)
    key: str | None = field(repr=False)
    tls: TlsOptions
    api: Api
    stream: bool
    temperature: float | None
    prompts: tuple[Prompt, ...]
    good: tuple[Within, ...]
    timeout_s: float
    seed: int
    trace: tuple[Arrival, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOrder:
    """One worker's share of a step."""

    mode: Mode
    clients: int
    """Closed loop: clients of this worker; open loop: most requests in flight."""
    rate: float | None
    requests: int
    seconds: float
    settle_s: float
    tokens: int
    breaker: Breaker


@dataclass(frozen=True, slots=True)
class Stop:
    """End the step now and report what was measured."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The setup can be used."""


@dataclass(frozen=True, slots=True)
class Unable:
    """The setup cannot be used; one line for people."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the step is; percentiles in seconds, None before the first value."""

    sent: int
    ended: int
    failed: int
    in_flight: int
    tokens: int
    """Input and output so far."""
    ttft_p50_s: float | None
    ttft_p99_s: float | None
    e2e_p50_s: float | None
    e2e_p99_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """The step is over.  ``tokens`` are all that were used, those of the settle time included."""

    tally: Tally
    tokens: int
    stopped: str


Message = Setup | StepOrder | Stop | Ready | Unable | Progress | StepDone
Order = Setup | StepOrder | Stop
Report = Ready | Unable | Progress | StepDone

_ORDERS: dict[str, type[Order]] = {"setup": Setup, "step": StepOrder, "stop": Stop}
_REPORTS: dict[str, type[Report]] = {
    "ready": Ready,
    "unable": Unable,
    "progress": Progress,
    "done": StepDone,
}
_KINDS: dict[type, str] = {kind: name for name, kind in (_ORDERS | _REPORTS).items()}


def to_json(message: Message) -> dict[str, Any]:
    """Return the message as a JSON object."""
    return {"protocol": VERSION, "kind": _KINDS[type(message)], "body": encode(message)}


def order_from_json(data: object) -> Order:
    """Read an order, as the worker does.  Raises DecodeError."""
    return _from_json(_ORDERS, data)


def report_from_json(data: object) -> Report:
    """Read a report, as the runner does.  Raises DecodeError."""
    return _from_json(_REPORTS, data)


def _from_json(kinds: dict[str, type[M]], data: object) -> M:
    if not isinstance(data, dict) or data.get("protocol") != VERSION or data.get("kind") not in kinds:
        raise DecodeError("not a message of this protocol: the exporter and its worker are of two versions")
    return decode(kinds[data["kind"]], data.get("body"), data["kind"])
