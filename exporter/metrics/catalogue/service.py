"""Families about the exporter itself."""

from exporter.metrics.family import Family, Type

BUILD_INFO = Family(
    name="inference_exporter_build_info",
    type=Type.GAUGE,
    labels=("version", "revision", "python_version"),
    help="1, with the version that runs, its source revision (empty where unknown) and the Python version.",
)
START_TIME = Family(
    name="inference_exporter_start_time_seconds",
    type=Type.GAUGE,
    unit="seconds",
    help="When the service started, Unix time.",
)
RELOAD_SUCCESSFUL = Family(
    name="inference_exporter_config_last_reload_successful",
    type=Type.GAUGE,
    help="1 if the last load of the configuration was accepted, 0 if refused: the former one runs on.",
)
RELOAD_TIMESTAMP = Family(
    name="inference_exporter_config_last_reload_success_timestamp_seconds",
    type=Type.GAUGE,
    unit="seconds",
    help="When a configuration was last accepted, Unix time.",
)
LOOP_LAG = Family(
    name="inference_exporter_event_loop_lag_seconds",
    type=Type.HISTOGRAM,
    unit="seconds",
    buckets=(0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3),
    help="How much later than asked a timer of the event loop fired.",
)
CLOCK_STEPS = Family(
    name="inference_exporter_clock_steps_total",
    type=Type.COUNTER,
    help="Times that the wall clock moved against the monotonic clock; every latency uses the monotonic one.",
)

TARGET_FILES_REFUSED = Family(
    name="inference_exporter_target_files_refused",
    type=Type.GAUGE,
    help="Problems that keep target files from being in force as they stand; the log names them. Their last "
    "good content, if there was any, is in force.",
)
STATE_USABLE = Family(
    name="inference_exporter_state_file_usable",
    type=Type.GAUGE,
    help="1 if the state file could be read or written when it was last tried, 0 if not: then spent budgets "
    "do not outlive a restart; absent without a state file.",
)

SERVICE: tuple[Family, ...] = (
    BUILD_INFO,
    START_TIME,
    RELOAD_SUCCESSFUL,
    RELOAD_TIMESTAMP,
    LOOP_LAG,
    CLOCK_STEPS,
    TARGET_FILES_REFUSED,
    STATE_USABLE,
)
