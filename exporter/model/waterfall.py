"""One request as bars over its time: the phases, and the clocks from the first byte sent."""

from dataclasses import dataclass, fields

from exporter.model.clocks import Clock
from exporter.model.results import ProbeResult

_FULL, _EDGE = "█", "▏"
_NS = 1e-9


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that took ``length_s`` seconds, ``start_s`` seconds after the request was handed over."""

    name: str
    start_s: float
    length_s: float


def bars(result: ProbeResult) -> tuple[Bar, ...]:
    """Return the phases in their order, then the clocks; empty where nothing was sent."""
    phases = result.phases
    if phases is None:
        return ()
    found: list[Bar] = []
    at_s = 0.0
    sent_s = sum(getattr(phases, name) or 0.0 for name in ("dns_s", "connect_s", "tls_s"))
    for field in fields(phases):
        length_s = getattr(phases, field.name)
        if field.name != "total_s" and length_s is not None:
            found.append(Bar(field.name.removesuffix("_s"), at_s, length_s))
            at_s += length_s
    for clock in (Clock.TTFT, Clock.TTFC, Clock.E2E):
        measured = result.timing.of(clock)
        if measured is not None:
            found.append(Bar(str(clock), sent_s, measured.value_s))
    return tuple(found)


def drawn(bar: Bar, total_s: float, width: int) -> str:
    """Return a bar as exactly ``width`` characters of a line that stands for ``total_s`` seconds."""
    if total_s <= 0:
        return " " * width
    a_cell_s = max(total_s / width, _NS)
    start = min(width - 1, int(bar.start_s / a_cell_s))
    cells = round(bar.length_s / a_cell_s)
    body = _FULL * min(cells, width - start) or _EDGE
    return (" " * start + body).ljust(width)


def milliseconds(seconds: float) -> str:
    """Return a duration for people, in milliseconds with three significant digits."""
    ms = seconds * 1e3
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.3g} ms"
