"""Every key of the configuration file: its type, its default, and what it means."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from exporter.config import address, names, units
from exporter.config.bench_schema import Bench, Peak
from exporter.config.power_schema import Power, TargetPower
from exporter.config.schema_access import Azure, Budget, Header, Prices, Tls
from exporter.config.schema_load import Cost, Load
from exporter.config.section import EnvName, Every, FilePath, Name, Section, Text

MAX_TIMEOUT_S = 3600.0


def _timeout(value: object) -> float:
    timeout_s = units.seconds(value)
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        raise ValueError("must be more than 0s and at most 1h")
    return timeout_s


def _listen(text: str) -> str:
    address.listen(text)
    return text


Timeout = Annotated[float, BeforeValidator(_timeout)]
Share = Annotated[float, BeforeValidator(units.share)]
ConnectionWord = Literal["reuse", "fresh"]
SeverityWord = Literal["page", "ticket"]


class Confirm(Section):
    """Extra requests after a breach, so that a fault is told from chance sooner."""

    every: Every = Field(default=3.0, description="Time from one to the next, 1s to 1d.")
    for_: Timeout = Field(
        default=60.0, alias="for", description="They end this long after the last breach, at most 1h."
    )
    per_hour: Annotated[int, Field(ge=1, le=3600)] = Field(
        default=150, description="At most so many an hour, 1 to 3600."
    )


class Defaults(Section):
    """What a probe gets where it says nothing itself."""

    every: Every = Field(default=15.0, description="Time from one start to the next, 1s to 1d.")
    timeout: Timeout = Field(
        default=30.0, description="Total deadline of a request, connection included, at most 1h."
    )
    stall_timeout: Timeout | None = Field(
        default=None,
        description="Longest gap between two events of a stream; half the timeout where not given.",
    )
    connection: ConnectionWord = Field(
        default="reuse", description="reuse keeps the connection between requests; fresh opens one for each."
    )
    confirm: Confirm | None = Field(
        default=None, description="Extra requests after a breach; none where not given."
    )


class Latency(Section):
    """Thresholds on one clock: that share of the requests ends well and within the time."""

    p50: Timeout | None = Field(default=None, description="Time that 50 % of the requests keep within.")
    p90: Timeout | None = Field(default=None, description="Time that 90 % of the requests keep within.")
    p95: Timeout | None = Field(default=None, description="Time that 95 % of the requests keep within.")
    p99: Timeout | None = Field(default=None, description="Time that 99 % of the requests keep within.")
    p99_9: Timeout | None = Field(
        default=None, alias="p99.9", description="Time that 99.9 % of the requests keep within."
    )
    severity: SeverityWord | None = Field(
        default=None, description="page or ticket, where it differs from the severity of the whole sla."
    )

    def thresholds(self) -> list[tuple[str, float]]:
        """Return percentile and threshold in seconds of those that are given, in ascending order."""
        given = [("50", self.p50), ("90", self.p90), ("95", self.p95), ("99", self.p99), ("99.9", self.p99_9)]
        return [(percentile, threshold) for percentile, threshold in given if threshold is not None]

    @model_validator(mode="before")
    @classmethod
    def _needs_percentile(cls, data: object) -> object:
        is_bare = isinstance(data, (str, int, float))
        if is_bare:
            raise ValueError("needs a percentile, such as {p99: 500ms}")
        return data

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = self.thresholds()
        if not given:
            raise ValueError("names no percentile; write one, such as {p99: 500ms}")
        for (low, low_s), (high, high_s) in pairwise(given):
            if high_s < low_s:
                raise ValueError(
                    f"p{high} ({units.duration(high_s)}) is below p{low} ({units.duration(low_s)}), which it "
                    f"implies; raise p{high} or drop p{low}"
                )
        return self


class Sla(Section):
    """What is promised of a probe's requests; a failed one breaks every promise it had a chance to keep."""

    ttft: Latency | None = Field(default=None, description="Time to first token of any channel.")
    ttfc: Latency | None = Field(
        default=None, description="Time to first content token, after any reasoning."
    )
    itl: Latency | None = Field(
        default=None, description="Largest gap between two token-bearing chunks of a request."
    )
    tpot: Latency | None = Field(
        default=None, description="Mean time per output token after the first chunk."
    )
    e2e: Latency | None = Field(default=None, description="Request sent to end of the answer.")
    availability: Share | None = Field(
        default=None, description="Share of requests that end well, such as 99.5% or 0.995."
    )
    severity: SeverityWord = Field(
        default="page", description="What a broken promise does: page wakes somebody, ticket waits."
    )


class Probe(Section):
    """One request that is sent again and again."""

    name: Name = Field(description="Label `probe`; unique in the target.")
    kind: str = Field(description="Kind of request, such as chat.")
    every: Every | None = Field(default=None, description="Time from one start to the next, 1s to 1d.")
    timeout: Timeout | None = Field(
        default=None, description="Total deadline of a request, connection included, at most 1h."
    )
    stall_timeout: Timeout | None = Field(
        default=None, description="Longest gap between two events of a stream."
    )
    connection: ConnectionWord | None = Field(default=None, description="reuse or fresh.")
    params: dict[str, object] = Field(
        default_factory=dict, description="What the kind takes; see its own table."
    )
    sla: Sla = Field(default=Sla(), description="What is promised of this probe.")
    confirm: Confirm | None = Field(default=None, description="Extra requests after a breach.")


class Target(Section):
    """An endpoint under test."""

    name: Name = Field(description="Label `target`; unique in the file.")
    base_url: Annotated[str, AfterValidator(address.base_url)] = Field(
        description="URL that the OpenAI paths are added to, such as https://api.example.com/v1."
    )
    model: Text = Field(description="Model to ask for; label `model`.")
    api_key_env: EnvName | None = Field(
        default=None, description="Environment variable that holds the API key."
    )
    api_key_file: FilePath | None = Field(
        default=None, description="File that holds the API key; read again at each use."
    )
    labels: dict[Annotated[str, AfterValidator(names.label)], Text] = Field(
        default_factory=dict,
        max_length=16,
        description="Extra labels of the target's info metric only, at most 16.",
    )
    prices: Prices | None = Field(default=None, description="What tokens cost here.")
    power: TargetPower | None = Field(
        default=None, description="Where the power of what serves it is known from, for joules per token."
    )
    tls: Tls | None = Field(default=None, description="How the server's certificate is checked.")
    proxy: Annotated[str, AfterValidator(address.proxy)] | None = Field(
        default=None, description="HTTP proxy; otherwise HTTPS_PROXY, HTTP_PROXY and NO_PROXY count."
    )
    ip: Literal["ipv4", "ipv6"] | None = Field(
        default=None, description="Which addresses of the host are tried first: ipv4 or ipv6."
    )
    headers: list[Header] = Field(
        default_factory=list, max_length=32, description="Headers that go with every request."
    )
    azure: Azure | None = Field(
        default=None, description="For Azure OpenAI: base_url is then the resource's, without a path."
    )
    budget: Budget | None = Field(default=None, description="What its probes may spend in a day.")
    confirm: Confirm | None = Field(
        default=None, description="Extra requests after a breach, for probes that say nothing themselves."
    )
    probes: list[Probe] = Field(min_length=1, description="What is sent to it.")
    load: list[Load] = Field(default_factory=list, description="Load tests, scheduled or on command.")
    cost: Cost | None = Field(default=None, description="What the machine behind it costs its owner.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.azure is not None and self.api_key_env is None and self.api_key_file is None:
            raise ValueError("azure needs a key; write api_key_env: NAME_OF_VARIABLE or api_key_file: PATH")
        if self.budget is not None and self.budget.money_per_day is not None and self.prices is None:
            raise ValueError("budget.money_per_day needs prices; write prices: {input_per_mtok: ...}")
        if self.api_key_env is not None and self.api_key_file is not None:
            raise ValueError("api_key_env and api_key_file are both given; remove one of the two")
        if self.tls is not None and not self.base_url.lower().startswith("https:"):
            raise ValueError("tls has no effect on an http:// base_url; remove it or write https://")
        return self


class Web(Section):
    """Where the service answers."""

    listen: Annotated[str, AfterValidator(_listen)] = Field(
        default="127.0.0.1:9780", description="HOST:PORT; IPv6 in brackets; port 0 takes any free one."
    )


class File(Section):
    """The whole file."""

    defaults: Defaults = Field(
        default=Defaults(), description="What probes get where they say nothing themselves."
    )
    targets: list[Target] = Field(default_factory=list, description="Endpoints under test.")
    benches: list[Bench] = Field(default_factory=list, description="Kernel benches on a schedule.")
    peaks: dict[Text, Peak] = Field(
        default_factory=dict, description="Peaks of devices by product name, where ours is missing or wrong."
    )
    bench_state: FilePath | None = Field(
        default=None,
        description="File that keeps what kernels took before; without it, until the service ends.",
    )
    power: Power = Field(default=Power(), description="How power is sampled on this host.")
    web: Web = Field(default=Web(), description="Where the service answers.")
    target_files: list[Annotated[str, AfterValidator(names.pattern)]] = Field(
        default_factory=list,
        max_length=16,
        description="Patterns of files with more targets, such as targets.d/*.yml; read again on change.",
    )
    state_file: FilePath | None = Field(
        default=None,
        description="File in which spent budgets outlive a restart; its folder must be writable.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        remote = [t.name for t in self.targets if t.power is not None and t.power.promql is not None]
        if remote and self.power.prometheus is None:
            raise ValueError(
                f"target {remote[0]} has power.promql; say whom to ask: power: {{prometheus: URL}}"
            )
        if not self.targets and not self.benches and not self.target_files:
            raise ValueError("nothing to run; add at least one target or bench")
        return self
