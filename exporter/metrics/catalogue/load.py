"""Families of load tests; their latencies never mix with the probes': load changes what it measures."""

from exporter.metrics.catalogue.probe import REASONS
from exporter.metrics.family import Family, Type

WHO = ("target", "model", "scenario")
TOKEN_KINDS = ("input", "output")
RUN_REASONS = ("busy", "not_begun", "ended_early")
_REASON = ("reason", REASONS)
_SUCCESS = "Successful requests of load tests, without steps in which the client was the limit."

RUNS = Family(
    name="inference_load_runs_total",
    type=Type.COUNTER,
    labels=WHO,
    help="Scheduled load tests that came up.",
)
RUN_FAILURES = Family(
    name="inference_load_run_failures_total",
    type=Type.COUNTER,
    labels=(*WHO, "reason"),
    closed=(("reason", RUN_REASONS),),
    help="Load tests that were not run to their end, by reason.",
)
LAST_RUN = Family(
    name="inference_load_last_run_timestamp_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="When the last load test ended, Unix time; absent until one has.",
)
RUN_SECONDS = Family(
    name="inference_load_run_seconds_total",
    type=Type.COUNTER,
    labels=WHO,
    unit="seconds",
    help="Wall time of the steps of load tests: requests / this = QPS under load.",
)
REQUESTS = Family(
    name="inference_load_requests_total",
    type=Type.COUNTER,
    labels=WHO,
    help="Requests of load tests that ended, well or not; those of the settle time are left out.",
)
FAILURES = Family(
    name="inference_load_request_failures_total",
    type=Type.COUNTER,
    labels=(*WHO, "reason"),
    closed=(_REASON,),
    help="Requests of load tests that ended badly, by reason.",
)
GOOD = Family(
    name="inference_load_good_requests_total",
    type=Type.COUNTER,
    labels=WHO,
    help="Requests of load tests that ended well within every limit of `good`; goodput = this / run seconds.",
)
TOKENS = Family(
    name="inference_load_tokens_total",
    type=Type.COUNTER,
    labels=(*WHO, "kind"),
    unit="tokens",
    closed=(("kind", TOKEN_KINDS),),
    help="Tokens of the requests of load tests.",
)
CLIENT_LIMITED = Family(
    name="inference_load_client_limited_steps_total",
    type=Type.COUNTER,
    labels=WHO,
    help="Steps in which this host, not the server, was the limit; their latencies are not observed.",
)
IN_FLIGHT = Family(
    name="inference_load_in_flight",
    type=Type.GAUGE,
    labels=WHO,
    help="Requests of a load test in flight now; 0 while none is running.",
)
OFFERED = Family(
    name="inference_load_offered_requests_per_second",
    type=Type.GAUGE,
    labels=WHO,
    help="Rate that an open-loop load test asks for now; absent while none is running and in a closed loop.",
)
DURATION = Family(
    name="inference_load_request_duration_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600),
    help=f"E2E = end of the answer - first byte of the request sent. {_SUCCESS}",
)
TTFT = Family(
    name="inference_load_time_to_first_token_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(
        *(0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5),
        *(7.5, 10, 20, 40, 80),
    ),
    help=f"TTFT = arrival of the first token - first byte of the request sent. {_SUCCESS}",
)
ITL = Family(
    name="inference_load_inter_token_latency_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5),
    help=f"Gap between consecutive token-bearing chunks. {_SUCCESS}",
)

LOAD: tuple[Family, ...] = (
    RUNS,
    RUN_FAILURES,
    LAST_RUN,
    RUN_SECONDS,
    REQUESTS,
    FAILURES,
    GOOD,
    TOKENS,
    CLIENT_LIMITED,
    IN_FLIGHT,
    OFFERED,
    DURATION,
    TTFT,
    ITL,
)
