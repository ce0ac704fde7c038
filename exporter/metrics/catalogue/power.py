"""Families about where power is read from, about zones that are no GPUs, and about energy against work."""

from exporter.metrics.family import Family, Type
from exporter.model.power import Fault, Scope, Source
from exporter.model.power_view import Restart, Work

_SOURCES = ("source", tuple(map(str, Source)))
_FAULTS = ("reason", tuple(map(str, Fault)))
_ZONE = ("source", "sensor", "scope")
_ZONES = (_SOURCES, ("scope", tuple(map(str, Scope))))
_TARGET = ("target", "model")
_WORK = ("target", "model", "work")
_WORKS = (("work", tuple(map(str, Work))),)
_WHOSE = (
    "Of the tokens that this exporter asked for: true of a load run, which has the target to itself; of "
    "probes only where nobody else uses it."
)

WORKER_UP = Family(
    name="inference_power_worker_up",
    type=Type.GAUGE,
    help="1 while the process that reads the devices speaks, else 0, and then nothing of theirs is shown; "
    "absent where power.enabled is false.",
)
RESTARTS = Family(
    name="inference_power_worker_restarts_total",
    type=Type.COUNTER,
    labels=("reason",),
    closed=(("reason", tuple(map(str, Restart))),),
    help="Times that this process was replaced, by reason.",
)
SAMPLED = Family(
    name="inference_power_last_sample_timestamp_seconds",
    type=Type.GAUGE,
    unit="seconds",
    help="When the devices were last sampled, Unix time; absent until they were.",
)
SOURCE_UP = Family(
    name="inference_power_source_up",
    type=Type.GAUGE,
    labels=("source",),
    closed=(_SOURCES,),
    help="1 if this way to read power works, 0 if it does not or this host has none.",
)
SOURCE_FAULT = Family(
    name="inference_power_source_fault",
    type=Type.GAUGE,
    labels=("source", "reason"),
    closed=(_SOURCES, _FAULTS),
    help="1 for the reason why a source does not work now; absent while it does.",
)
SOURCE_FAULTS = Family(
    name="inference_power_source_faults_total",
    type=Type.COUNTER,
    labels=("source", "reason"),
    closed=(_SOURCES, _FAULTS),
    help="Times that a source stopped working or turned out not to, by reason.",
)
SOURCE_RECOVERIES = Family(
    name="inference_power_source_recoveries_total",
    type=Type.COUNTER,
    labels=("source",),
    closed=(_SOURCES,),
    help="Times that a source worked again.",
)
ZONE_POWER = Family(
    name="inference_power_sensor_watts",
    type=Type.GAUGE,
    unit="watts",
    labels=_ZONE,
    closed=_ZONES,
    help="Power that a sensor of this host shows. Sensors of different scopes overlap: do not add them up.",
)
ZONE_ENERGY = Family(
    name="inference_power_sensor_energy_joules_total",
    type=Type.COUNTER,
    unit="joules",
    labels=_ZONE,
    closed=_ZONES,
    help="Energy of a CPU package or a sensor since the exporter first read it, wraps of its counter undone. "
    "Sensors of different scopes overlap: do not add them up.",
)
TARGET_POWER = Family(
    name="inference_target_power_watts",
    type=Type.GAUGE,
    unit="watts",
    labels=_TARGET,
    help="Power of what serves the target, from the source that its power: names; absent while unknown.",
)
TARGET_POWER_UP = Family(
    name="inference_target_power_up",
    type=Type.GAUGE,
    labels=_TARGET,
    help="1 if the power of what serves the target is known now, else 0.",
)
TARGET_ENERGY = Family(
    name="inference_target_energy_joules_total",
    type=Type.COUNTER,
    unit="joules",
    labels=_TARGET,
    help="Energy of what serves the target since the exporter started, idle time included, without time in "
    "which it was unknown.",
)
JOULES_PER_TOKEN = Family(
    name="inference_target_energy_per_token_joules",
    type=Type.GAUGE,
    unit="joules",
    labels=_WORK,
    closed=_WORKS,
    help=f"Joules / output tokens, over 5 minutes or the last load run, idle power included. {_WHOSE}",
)
TOKENS_PER_JOULE = Family(
    name="inference_target_tokens_per_joule",
    type=Type.GAUGE,
    labels=_WORK,
    closed=_WORKS,
    help=f"Output tokens / joules, which is tokens per second per watt. {_WHOSE}",
)
REQUESTS_PER_WATT = Family(
    name="inference_target_requests_per_watt",
    type=Type.GAUGE,
    labels=_WORK,
    closed=_WORKS,
    help=f"Requests per second / mean watts. {_WHOSE}",
)
ELECTRICITY_COST = Family(
    name="inference_target_electricity_cost_per_million_tokens",
    type=Type.GAUGE,
    labels=(*_WORK, "currency"),
    closed=_WORKS,
    help="Joules per output token x 1,000,000 / 3,600,000 x power.price_per_kwh, in the currency. " + _WHOSE,
)

POWER: tuple[Family, ...] = (
    *(WORKER_UP, RESTARTS, SAMPLED, SOURCE_UP, SOURCE_FAULT, SOURCE_FAULTS, SOURCE_RECOVERIES),
    *(ZONE_POWER, ZONE_ENERGY, TARGET_POWER, TARGET_POWER_UP, TARGET_ENERGY),
    *(JOULES_PER_TOKEN, TOKENS_PER_JOULE, REQUESTS_PER_WATT, ELECTRICITY_COST),
)
