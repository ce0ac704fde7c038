"""What is probed and what was promised of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from exporter.model.clocks import Clock
from exporter.model.confirmation import Confirm
from exporter.model.power_plan import Gpus, Promql, Watts


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """Where the API key is read from, at every use, so that a rotated key is picked up.

    Exactly one of the two is set.  The key itself is never part of any value in the model.
    """

    env: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header that a target wants with every request: a plain value, or a secret one from its source."""

    name: str
    value: str = ""
    source: KeySource | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Azure:
    """How Azure OpenAI wants to be asked: the deployment in the path, the version of the API in the query."""

    api_version: str
    deployment: str | None = None
    """None means: named like the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsOptions:
    """How a server's certificate is checked, and which one we show."""

    ca_file: str | None = None
    """None means the operating system's trust store."""
    cert_file: str | None = None
    """Our own certificate, for servers that ask for one."""
    key_file: str | None = None
    """Its key; None means: in ``cert_file`` too."""
    insecure: bool = False
    server_name: str | None = None
    """Name for SNI and verification where it is not the URL's host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Money per million tokens."""

    input_per_mtok: float
    output_per_mtok: float
    currency: str

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """Return the money for so many tokens, in the currency."""
        return (input_tokens * self.input_per_mtok + output_tokens * self.output_per_mtok) / 1e6


class IpFamily(StrEnum):
    """A version of the Internet Protocol."""

    IPV4 = "ipv4"
    IPV6 = "ipv6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What the probes of a target may spend in a day (UTC); None means: without limit."""

    tokens_per_day: int | None = None
    money_per_day: float | None = None
    """In the currency of the target's prices."""


class Connection(StrEnum):
    """Whether a probe keeps its connection; a fresh one has its own series."""

    REUSE = "reuse"
    FRESH = "fresh"


class Severity(StrEnum):
    """What a broken promise does to people: wake somebody, or wait for the morning."""

    PAGE = "page"
    TICKET = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """One promise: at least ``ratio`` of the requests end well, and within ``threshold_s``.

    ``sli`` is the label value: the clock and the percentile (``ttft_p99``), or ``availability``, whose
    ``clock`` and ``threshold_s`` are None.
    """

    sli: str
    ratio: float
    clock: Clock | None = None
    threshold_s: float | None = None
    severity: Severity = Severity.PAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An endpoint under test.  ``proxy`` None means: as the environment says."""

    name: str
    base_url: str
    model: str
    key: KeySource | None = None
    tls: TlsOptions = TlsOptions()
    proxy: str | None = None
    ip: IpFamily | None = None
    """Which addresses of the host are tried first; None means: as the system orders them."""
    azure: Azure | None = None
    headers: tuple[Header, ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    prices: Prices | None = None
    budget: Budget | None = None
    power: Gpus | Watts | Promql | None = None
    """Where the power of what serves it is known from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSpec:
    """One probe of a target.  ``params`` is an instance of the kind's own ``Params``."""

    name: str
    kind: str
    every_s: float
    timeout_s: float
    stall_timeout_s: float
    connection: Connection
    params: object
    objectives: tuple[Objective, ...] = ()
    clocks: frozenset[Clock] = frozenset()
    """The clocks that this kind with these parameters can give."""
    confirm: Confirm | None = None
    """None means that a breach is not looked at closer."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity labels of every series about a probe, all of them from the configuration."""

    target: str
    model: str
    probe: str

    @property
    def labels(self) -> tuple[str, str, str]:
        """Label values in the order target, model, probe."""
        return (self.target, self.model, self.probe)
