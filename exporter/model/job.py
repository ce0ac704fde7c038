"""What kinds of scheduled work there are."""

from enum import StrEnum


class JobKind(StrEnum):
    """What a scheduled job does; the only source of the label ``kind`` of job metrics."""

    PROBE = "probe"
    CONFIRM = "confirm"
    """Extra requests of a probe after a breach."""
    BENCH = "bench"
    LOAD = "load"
