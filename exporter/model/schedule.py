"""Why a scheduled run says nothing about what it was to measure."""

from enum import StrEnum

from exporter.model.outcome import Outcome


class JobKind(StrEnum):
    """What a scheduled job does; the only source of the label ``kind`` of job metrics."""

    PROBE = "probe"
    BENCH = "bench"


class MissCause(StrEnum):
    """Why a slot of the schedule gave no measurement; the only source of the label ``cause``.

    Every slot ends as exactly one attempt (``Outcome`` that counts) or one miss.
    """

    OVERRUN = "overrun"
    """The previous run of the same job was still going."""
    BUSY = "busy"
    """The target or device was held exclusively, by a load test or a bench."""
    LATE = "late"
    """The event loop or the host came back to the slot after its grace had passed."""
    BUDGET = "budget"
    """Not sent: the budget of tokens was spent."""
    OVERLOAD = "overload"
    """This host could not drive the request in time."""
    CANCELLED = "cancelled"
    """Given up by us: reload or shutdown."""


_CAUSE_OF = {
    Outcome.OVER_BUDGET: MissCause.BUDGET,
    Outcome.CLIENT_OVERLOAD: MissCause.OVERLOAD,
    Outcome.CANCELLED: MissCause.CANCELLED,
}


def miss_of(outcome: Outcome) -> MissCause | None:
    """Return why a request that ended so is no attempt, or None where it is one."""
    return _CAUSE_OF.get(outcome)
