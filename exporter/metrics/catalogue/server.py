"""Families about what a server says of itself, and what asking it costs."""

from dataclasses import fields

from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Family, Type
from exporter.model.server_timing import ServerTiming

LIMIT_KINDS = ("requests", "tokens")
BUDGET_KINDS = ("tokens", "money")
SERVER_PHASES = tuple(f.name.removesuffix("_s") for f in fields(ServerTiming))

HTTP_VERSION = Family(
    name="inference_probe_http_version",
    type=Type.GAUGE,
    labels=WHO,
    help="HTTP version of the last response, such as 1.1; absent until there was one.",
)
IP_VERSION = Family(
    name="inference_probe_ip_version",
    type=Type.GAUGE,
    labels=WHO,
    help="4 or 6: the IP version of the last connection (to the proxy, where there is one); absent until "
    "there was one.",
)
SERVER_REPORTED = Family(
    name="inference_probe_server_reported_duration_seconds",
    type=Type.GAUGE,
    labels=(*WHO, "phase"),
    unit="seconds",
    closed=(("phase", SERVER_PHASES),),
    help="What the server said of the last successful probe's time, in headers or body; absent where it said "
    "nothing. Our own clocks minus this is the network, the gateway and the queue before it.",
)
RATE_LIMIT = Family(
    name="inference_probe_rate_limit",
    type=Type.GAUGE,
    labels=(*WHO, "kind"),
    closed=(("kind", LIMIT_KINDS),),
    help="Limit that the last response's headers named (x-ratelimit-limit-*); absent where it named none.",
)
RATE_REMAINING = Family(
    name="inference_probe_rate_limit_remaining",
    type=Type.GAUGE,
    labels=(*WHO, "kind"),
    closed=(("kind", LIMIT_KINDS),),
    help="What was left of the limit, by the last response's headers; absent where they do not say.",
)
RATE_RESET = Family(
    name="inference_probe_rate_limit_reset_seconds",
    type=Type.GAUGE,
    labels=(*WHO, "kind"),
    unit="seconds",
    closed=(("kind", LIMIT_KINDS),),
    help="Time from the last response until the whole limit is there again, by its headers; absent where "
    "they do not say.",
)
RETRY_AFTER = Family(
    name="inference_probe_retry_after_seconds",
    type=Type.GAUGE,
    labels=WHO,
    unit="seconds",
    help="How long the last response asked us to wait (Retry-After); absent where it did not ask.",
)
MODEL_HASH = Family(
    name="inference_probe_model_hash",
    type=Type.GAUGE,
    labels=WHO,
    help="48 bits of SHA-256 of the model and system_fingerprint that the last good answer named; absent "
    "while none did. Equal numbers mean the same model; the name itself is a server's text and no label.",
)
MODEL_CHANGES = Family(
    name="inference_probe_model_changes_total",
    type=Type.COUNTER,
    labels=WHO,
    help="Times that a good answer named another model or fingerprint than the one before it.",
)
COST = Family(
    name="inference_cost_total",
    type=Type.COUNTER,
    labels=(*WHO, "currency"),
    help="Money spent on requests whose tokens the server counted, by the configured prices; failed ones "
    "too.",
)
BUDGET = Family(
    name="inference_budget_limit",
    type=Type.GAUGE,
    labels=("target", "model", "kind"),
    closed=(("kind", BUDGET_KINDS),),
    help="What the probes of a target may spend in a day (UTC); absent without such a budget.",
)
BUDGET_SPENT = Family(
    name="inference_budget_spent",
    type=Type.GAUGE,
    labels=("target", "model", "kind"),
    closed=(("kind", BUDGET_KINDS),),
    help="What they have spent today; a request whose tokens nobody counted is taken at its most.",
)

SERVER: tuple[Family, ...] = (
    HTTP_VERSION,
    IP_VERSION,
    SERVER_REPORTED,
    RATE_LIMIT,
    RATE_REMAINING,
    RATE_RESET,
    RETRY_AFTER,
    MODEL_CHANGES,
    MODEL_HASH,
    COST,
    BUDGET,
    BUDGET_SPENT,
)
