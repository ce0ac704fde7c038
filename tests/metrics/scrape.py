"""A fixed story told to a sink, and the exposition it must give.

``python -m tests.metrics.scrape`` prints that exposition, which ``golden/scrape.txt`` holds.
"""

import re

from exporter.adapters.prometheus import Sink
from exporter.metrics import server_samples as server
from exporter.metrics import service_samples as service
from exporter.metrics.buckets import bucket_bounds
from exporter.metrics.catalogue import ALL
from exporter.metrics.catalogue.gpu import GPU
from exporter.metrics.catalogue.load import LOAD
from exporter.metrics.catalogue.power import POWER
from exporter.metrics.model_ledger import ModelLedger
from exporter.metrics.samples import initial, of, of_confirmation
from exporter.metrics.sla_ledger import SlaLedger
from exporter.metrics.targets import target_info
from exporter.model.budget import Spend
from exporter.model.clocks import Clock, Measured, Phases, Timing, Tokens, TokensFrom
from exporter.model.configuration import TargetPlan
from exporter.model.confirmation import Confirm
from exporter.model.job import JobKind
from exporter.model.outcome import Outcome
from exporter.model.rate_limits import RateLimit, RateLimits
from exporter.model.results import ConnectionFacts, ProbeResult
from exporter.model.schedule import MissCause
from exporter.model.server_timing import ServerTiming
from exporter.model.target import Budget, Connection, Identity, Prices, ProbeSpec
from exporter.model.transcript import StampSource
from tests.metrics.builders import AVAILABILITY, E2E_P99, TTFT_P99, probe, target

CONFIRM = Confirm(every_s=3.0, for_s=60.0, per_hour=150)
CHAT = TargetPlan(
    target=target(
        "prod",
        labels={"site": "fra1"},
        prices=Prices(input_per_mtok=0.5, output_per_mtok=2.0, currency="EUR"),
        budget=Budget(tokens_per_day=1000, money_per_day=0.5),
    ),
    probes=(probe("short", objectives=(TTFT_P99, E2E_P99, AVAILABILITY), confirm=CONFIRM),),
)
PLAIN = TargetPlan(
    target=target("lab", base_url="http://127.0.0.1:8000/v1", model="tiny"),
    probes=(
        probe(
            "fresh", clocks=frozenset({Clock.E2E}), objectives=(), connection=Connection.FRESH, every_s=60.0
        ),
    ),
)
PLANS = (CHAT, PLAIN)


def ready_sink(plans: tuple[TargetPlan, ...] = PLANS) -> tuple[Sink, SlaLedger]:
    """A sink and a ledger as they stand when the service has started."""
    sink, ledger = Sink(ALL, bucket_bounds(plans)), SlaLedger()
    sink.apply(service.started("1.2.3", "abc1234", "3.11.9", 1_700_000_000.0))
    sink.apply(service.reloaded(1_700_000_000.5))
    sink.set_info(target_info(plan.target for plan in plans))
    for plan in plans:
        for spec in plan.probes:
            sink.apply(initial(plan.target, spec))
            sink.apply(server.initial(plan.target, spec))
            identity = Identity(plan.target.name, plan.target.model, spec.name)
            sink.apply(ledger.standing(identity, spec.objectives))
    return sink, ledger


def outcome_of(plan: TargetPlan, outcome: Outcome, at_s: float, **changes: object) -> ProbeResult:
    spec: ProbeSpec = plan.probes[0]
    return ProbeResult(
        target=plan.target, spec=spec, outcome=outcome, finished_unix_s=1_700_000_000.0 + at_s, **changes
    )


def story() -> list[ProbeResult]:
    """Three answers, a failure and a cancelled probe; elsewhere a failure and an answer without stream."""
    good = Timing(
        ttft=Measured(0.25),
        ttfc=Measured(0.25),
        tpot=Measured(0.015625),
        e2e=Measured(0.75),
        gaps=(Measured(0.015625), Measured(0.015625, below_s=0.0078125), Measured(0.03125)),
    )
    slow = Timing(ttft=Measured(0.5), ttfc=Measured(0.5, below_s=0.25), e2e=Measured(1.5))
    spent = Tokens(input=12, output=4, cached=8, output_from=TokensFrom.USAGE)
    return [
        outcome_of(
            CHAT,
            Outcome.OK,
            15,
            timing=good,
            tokens=spent,
            reused=False,
            stamps=StampSource.KERNEL,
            lateness_s=(0.0000625, 0.0005),
            certificate_expiry_unix_s=1_800_000_000.0,
            status=200,
            connection=ConnectionFacts(family="ipv4", http_version="1.1"),
            rate_limits=RateLimits(
                requests=RateLimit(limit=60, remaining=59, reset_s=1.5), retry_after_s=2.0
            ),
            server=ServerTiming(total_s=0.5, queue_s=0.125),
            answered_by=1234,
            phases=Phases(
                dns_s=0.125,
                connect_s=0.0625,
                tls_s=0.125,
                send_s=0.0625,
                wait_s=0.25,
                receive_s=0.5,
                total_s=1.125,
            ),
        ),
        outcome_of(
            CHAT,
            Outcome.OK,
            30,
            timing=slow,
            tokens=Tokens(output=3, output_from=TokensFrom.CHUNKS),
            reused=True,
            stamps=StampSource.KERNEL,
            answered_by=5678,
            phases=Phases(send_s=0.0625, wait_s=0.5, receive_s=1.0, total_s=1.5625),
        ),
        outcome_of(CHAT, Outcome.OK, 45, timing=Timing(ttft=Measured(0.3125, below_s=0.0625)), reused=True),
        outcome_of(
            CHAT,
            Outcome.TIMEOUT_STALL,
            90,
            timing=good,
            reused=True,
            stamps=StampSource.USER,
            phases=Phases(send_s=0.0625, wait_s=0.25, receive_s=29.6875, total_s=30.0),
        ),
        outcome_of(CHAT, Outcome.CANCELLED, 95, reused=True),
        outcome_of(PLAIN, Outcome.DNS, 10),
        outcome_of(PLAIN, Outcome.OK, 70, timing=Timing(e2e=Measured(2.0)), reused=False),
    ]


def told_sink() -> Sink:
    """The sink after the whole story."""
    sink, ledger = ready_sink()
    models = ModelLedger()
    for result in story():
        sink.apply(of(result))
        sink.apply(ledger.record(result))
        sink.apply(server.of(result))
        sink.apply(models.record(result))
    if CHAT.target.budget is not None:
        sink.apply(server.budget(CHAT.target, CHAT.target.budget, Spend(16, 0.25)))
    confirmation = outcome_of(CHAT, Outcome.HTTP_5XX, 97, tokens=Tokens(input=12))
    sink.apply(of_confirmation(confirmation))
    sink.apply(ledger.confirm(confirmation))
    sink.apply(service.probe_started(0.002))
    sink.apply(service.missed(Identity("prod", "llama", "short"), MissCause.OVERRUN, 2))
    sink.apply(service.ended(JobKind.PROBE, "crashed"))
    sink.apply(service.loop_lagged(0.0005))
    sink.apply(service.clock_stepped())
    sink.apply(service.target_files(1))
    sink.apply(service.state_file(usable=True))
    sink.apply(service.reload_refused())
    return sink


def lines(sink: Sink, containing: str = "", *, accept: str = "") -> list[str]:
    """The samples and types of a scrape, without those about this very process."""
    body, _ = sink.render(accept)
    return [
        line
        for line in body.decode().splitlines()
        if containing in line and not line.startswith("# HELP") and " process_" not in f" {line}"
    ]


def golden_lines(sink: Sink) -> list[str]:
    """What the golden file holds: kernel benches, power, GPUs and load tests have tests of their own."""
    elsewhere = {family.name for family in (*POWER, *GPU, *LOAD)}
    return [
        line
        for line in lines(sink)
        if not re.search("inference_(kernel|load)_", line) and elsewhere.isdisjoint(re.split(r"[ {]", line))
    ]


if __name__ == "__main__":
    print("\n".join(golden_lines(told_sink())))  # noqa: T201 - its output is the golden file
