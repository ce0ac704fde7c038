"""Line plots as inline SVG: round ticks, logarithmic where asked, no script and no font of its own."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 620, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 150, 28, 44
COLOURS = ("#0b6e99", "#c1440e", "#3d7a2a", "#6b4fa0", "#8a6d00", "#555555")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 3", "10 4")


@dataclass(frozen=True, slots=True)
class Line:
    """One named line; points in data units, x rising."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot; ``marks`` are x positions with a label."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    from_zero: bool = True
    marks: tuple[tuple[float, str], ...] = ()


def svg(plot: Plot) -> str:
    """Return the plot; every line also has a dash pattern, so that it reads without colour, in print."""
    points = [point for line in plot.lines for point in line.points]
    if not points:
        return ""
    xs = _Axis([x for x, _ in points] + [x for x, _ in plot.marks], _LEFT, WIDTH - _RIGHT, log=plot.log_x)
    lowest = [0.0] if plot.from_zero else []
    ys = _Axis([y for _, y in points] + lowest, HEIGHT - _BOTTOM, _TOP, log=False)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg">',
        f"<title>{escape(plot.title)}</title>",
        f'<text x="{_LEFT}" y="16" class="t">{escape(plot.title)}</text>',
    ]
    for value in ys.ticks():
        at = ys.place(value)
        parts.append(f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{WIDTH - _RIGHT}" y2="{at:.1f}" class="g"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" class="e">{_number(value)}</text>')
    for value in xs.ticks():
        at = xs.place(value)
        parts.append(f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{HEIGHT - _BOTTOM}" class="g"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - _BOTTOM + 16}" class="m">{_number(value)}</text>')
    for value, label in plot.marks:
        at = xs.place(value)
        parts.append(f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{HEIGHT - _BOTTOM}" class="k"/>')
        parts.append(f'<text x="{at + 4:.1f}" y="{_TOP + 12}" class="s">{escape(label)}</text>')
    parts += _lines(plot.lines, xs, ys)
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 8}" class="m">{escape(plot.x)}</text>')
    across = f'transform="rotate(-90 14 {HEIGHT / 2})"'
    parts.append(f'<text x="14" y="{HEIGHT / 2}" class="m" {across}>{escape(plot.y)}</text></svg>')
    return "\n".join(parts)


def _lines(lines: Sequence[Line], xs: "_Axis", ys: "_Axis") -> list[str]:
    parts = []
    for index, line in enumerate(lines):
        colour, dash = COLOURS[index % len(COLOURS)], _DASHES[index % len(_DASHES)]
        path = " ".join(f"{xs.place(x):.1f},{ys.place(y):.1f}" for x, y in line.points)
        style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        parts.append(f'<polyline points="{path}" {style}/>')
        if len(line.points) <= 32:
            parts += [
                f'<circle cx="{xs.place(x):.1f}" cy="{ys.place(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in line.points
            ]
        row = _TOP + 12 + 16 * index
        left = WIDTH - _RIGHT + 8
        parts.append(f'<line x1="{left}" y1="{row - 4}" x2="{left + 22}" y2="{row - 4}" {style}/>')
        parts.append(f'<text x="{left + 28}" y="{row}" class="s">{escape(line.name)}</text>')
    return parts


class _Axis:
    """From data units to pixels."""

    def __init__(self, values: Sequence[float], start: float, end: float, *, log: bool) -> None:
        self._log = log and min(values) > 0
        self._start, self._end = start, end
        low, high = min(values), max(values)
        if self._log:
            low, high = math.log10(low), math.log10(high)
        if high <= low:
            high = low + (abs(low) or 1.0)
        self._low, self._high = low, high

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        at = math.log10(value) if self._log else value
        return self._start + (at - self._low) / (self._high - self._low) * (self._end - self._start)

    def ticks(self) -> list[float]:
        """Return round values within the axis."""
        if self._log:
            first, last = math.floor(self._low), math.ceil(self._high)
            found = [m * 10.0**power for power in range(first, last + 1) for m in (1, 2, 5)]
            return [v for v in found if self._low - 1e-9 <= math.log10(v) <= self._high + 1e-9]
        span = self._high - self._low
        step = 10 ** math.floor(math.log10(span / 4))
        step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= 6)
        first = math.ceil(self._low / step - 1e-9)
        last = math.floor(self._high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]


def _number(value: float) -> str:
    return f"{value:,.6g}"
