"""Families about probes: attempts, clocks, phases, tokens and connections."""

from dataclasses import fields
from types import MappingProxyType

from exporter.metrics.family import Family, Type
from exporter.model.clocks import Clock, Phases
from exporter.model.outcome import FAILURES
from exporter.model.target import Connection

WHO = ("target", "model", "probe")
PHASES = tuple(f.name.removesuffix("_s") for f in fields(Phases) if f.name != "total_s")
REASONS = tuple(str(o) for o in FAILURES if o.counts_for_sla)
TOKEN_KINDS = ("input", "output", "reasoning", "cached")
CONNECTION_KINDS = ("new", "reused")
CLOCKS = tuple(str(c) for c in Clock)

FORMULA = MappingProxyType(
    {
        Clock.TTFT: "arrival of the first token of any channel (content, reasoning, tool call) - first byte "
        "of the request sent",
        Clock.TTFC: "arrival of the first token that is neither reasoning nor tool call - first byte of the "
        "request sent",
        Clock.ITL: "arrival of a token-bearing event of a stream - arrival of the one before it",
        Clock.TPOT: "(last token - first token) / (output tokens - tokens in the first token-bearing event)",
        Clock.E2E: "arrival of [DONE], or of the end of the message without one, - first byte of the request "
        "sent",
    }
)
"""What each clock measures; an arrival is a receive stamp."""

_SUCCESS_ONLY = (
    "Successful probes only: failures are in inference_probe_failures_total and in the SLA counters."
)

TARGET_INFO = Family(
    name="inference_target_info",
    type=Type.GAUGE,
    labels=("target", "model", "host"),
    open_labels=True,
    help="1 for each configured target, with the host it is reached at and its labels in the configuration.",
)
PROBE_INFO = Family(
    name="inference_probe_info",
    type=Type.GAUGE,
    labels=(*WHO, "kind", "connection"),
    closed=(("connection", tuple(str(c) for c in Connection)),),
    help="1 for each configured probe. A probe with connection=fresh opens a connection every time; it has "
    "series of its own because it has a probe name of its own.",
)
PROBES = Family(
    name="inference_probes_total",
    type=Type.COUNTER,
    labels=WHO,
    help="Probes that ended, well or not. Slots without a measurement are in inference_probes_missed_total.",
)
FAILED = Family(
    name="inference_probe_failures_total",
    type=Type.COUNTER,
    labels=(*WHO, "reason"),
    closed=(("reason", REASONS),),
    help="Probes that ended badly, by reason. Success ratio = 1 - failures / probes.",
)
SUCCESS = Family(
    name="inference_probe_success",
    type=Type.GAUGE,
    labels=WHO,
    help="1 if the last probe ended well, 0 if not; absent until one has ended.",
)
LAST = Family(
    name="inference_probe_last_timestamp_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="When the last probe ended, Unix time; absent until one has.",
)
LAST_SUCCESS = Family(
    name="inference_probe_last_success_timestamp_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="When the last successful probe ended, Unix time; absent until there is one.",
)
TTFT = Family(
    name="inference_probe_time_to_first_token_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(
        0.0025,
        0.005,
        0.01,
        0.025,
        0.05,
        0.1,
        0.2,
        0.35,
        0.5,
        0.75,
        1,
        1.5,
        2,
        3,
        5,
        7.5,
        10,
        20,
        40,
        80,
    ),
    help=f"TTFT = {FORMULA[Clock.TTFT]}; connect and TLS come before. {_SUCCESS_ONLY}",
)
TTFC = Family(
    name="inference_probe_time_to_first_content_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80),
    help=f"TTFC = {FORMULA[Clock.TTFC]}. {_SUCCESS_ONLY}",
)
ITL = Family(
    name="inference_probe_inter_token_latency_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5),
    help=f"Chunk gap (ITL) = {FORMULA[Clock.ITL]}; an event may carry several tokens. {_SUCCESS_ONLY}",
)
TPOT = Family(
    name="inference_probe_time_per_output_token_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5),
    help=f"TPOT = {FORMULA[Clock.TPOT]}, one value a request. {_SUCCESS_ONLY}",
)
DURATION = Family(
    name="inference_probe_duration_seconds",
    type=Type.HISTOGRAM,
    labels=WHO,
    unit="seconds",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 60, 120, 300, 600),
    help=f"E2E = {FORMULA[Clock.E2E]}. {_SUCCESS_ONLY}",
)
PHASE = Family(
    name="inference_probe_phase_duration_seconds",
    type=Type.GAUGE,
    labels=(*WHO, "phase"),
    unit="seconds",
    closed=(("phase", PHASES),),
    help="Where the time of the last probe went; a phase that it did not have is absent (dns, connect and "
    "tls happen on a new connection only).",
)
TOKENS = Family(
    name="inference_probe_tokens_total",
    type=Type.COUNTER,
    labels=(*WHO, "kind"),
    unit="tokens",
    closed=(("kind", TOKEN_KINDS),),
    help="Tokens of all requests, failed ones too. reasoning is a part of output, cached is a part of input.",
)
TOKENS_FROM_USAGE = Family(
    name="inference_probe_output_tokens_from_usage",
    type=Type.GAUGE,
    labels=WHO,
    help="1 if the output tokens of the last probe that had any were counted by the server (usage), 0 if "
    "by us (token-bearing events); absent until known. With 0, TPOT is the mean gap.",
)
INVALID = Family(
    name="inference_probe_invalid_samples_total",
    type=Type.COUNTER,
    labels=(*WHO, "clock"),
    closed=(("clock", CLOCKS),),
    help="Values that were counted here instead of observed, because their error bound exceeds both 1 ms and "
    "5 % of the value.",
)
LATENESS = Family(
    name="inference_probe_client_lateness_seconds",
    type=Type.HISTOGRAM,
    unit="seconds",
    buckets=(0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1),
    help="How long received bytes had waited in the kernel when this process read them = read time - kernel "
    "stamp, over all targets. Not part of any latency above: those use the stamp.",
)
CONNECTIONS = Family(
    name="inference_probe_connections_total",
    type=Type.COUNTER,
    labels=(*WHO, "kind"),
    closed=(("kind", CONNECTION_KINDS),),
    help="Requests by the connection they went over: opened for it, or kept from an earlier one.",
)
KERNEL_STAMPS = Family(
    name="inference_probe_kernel_timestamps",
    type=Type.GAUGE,
    labels=WHO,
    help="1 if the arrival times of the last answer were stamped by the kernel, 0 if by this process, whose "
    "scheduling then adds to every clock; absent until something was received.",
)
CERTIFICATE = Family(
    name="inference_probe_tls_certificate_expiry_timestamp_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="When the certificate that the server showed last expires, Unix time; absent without TLS.",
)
INTERVAL = Family(
    name="inference_probe_interval_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="Configured time between the starts of two probes.",
)
TIMEOUT = Family(
    name="inference_probe_timeout_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="Configured total deadline of a probe.",
)

HISTOGRAM_OF = MappingProxyType(
    {Clock.TTFT: TTFT, Clock.TTFC: TTFC, Clock.ITL: ITL, Clock.TPOT: TPOT, Clock.E2E: DURATION}
)
"""The histogram that shows each clock."""

PROBE: tuple[Family, ...] = (
    TARGET_INFO,
    PROBE_INFO,
    PROBES,
    FAILED,
    SUCCESS,
    LAST,
    LAST_SUCCESS,
    DURATION,
    TTFT,
    TTFC,
    ITL,
    TPOT,
    INVALID,
    PHASE,
    TOKENS,
    TOKENS_FROM_USAGE,
    CONNECTIONS,
    CERTIFICATE,
    KERNEL_STAMPS,
    LATENESS,
    INTERVAL,
    TIMEOUT,
)
