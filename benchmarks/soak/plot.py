"""Curves over time, one panel below the other, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP = 860, 190, 62, 190, 34  # pixels; the first two of one panel
COLOURS = ("#0f766e", "#b45309", "#7c3aed", "#be123c", "#475569", "#0369a1", "#65a30d", "#db2777")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one name, joined by a line or not."""

    name: str
    points: Sequence[Point]
    joined: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """Series with a common scale, which begins at 0 or is logarithmic."""

    title: str
    series: Sequence[Series]
    logarithmic: bool = False

    def scale(self) -> tuple[float, float]:
        """The least and the greatest value that are drawn."""
        values = [y for each in self.series for _, y in each.points] or [1.0]
        if self.logarithmic:
            least, greatest = max(min(values), 1e-3), max(*values, 1e-2)
            lower = math.floor(math.log10(least))
            return 10**lower, 10 ** max(math.ceil(math.log10(greatest)), lower + 1)
        step = _step(max(*values, 1.0))
        return 0.0, step * math.ceil(max(*values, 1.0) / step)

    def ticks(self) -> list[float]:
        """Values that are marked."""
        least, greatest = self.scale()
        if self.logarithmic:
            return [
                10.0**each
                for each in range(round(math.log10(least)), round(math.log10(greatest)) + 1)
            ]
        step = _step(greatest)
        return [step * number for number in range(round(greatest / step) + 1)]

    def share(self, value: float) -> float:
        """How far up a value lies: 0 at the bottom, 1 at the top."""
        least, greatest = self.scale()
        if self.logarithmic:
            least, greatest, value = (
                math.log10(each) for each in (least, greatest, max(value, least))
            )
        return (value - least) / (greatest - least)


def draw(panels: Sequence[Panel], *, minutes: float, marks: Sequence[float] = ()) -> str:
    """An SVG file.

    Args:
        panels: From top to bottom; x in minutes.
        minutes: The length of the time axis.
        marks: Minutes that a vertical line marks in each panel.
    """
    height = len(panels) * HEIGHT + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="#292524">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += [
            f'<g transform="translate(0 {number * HEIGHT})">',
            *_panel(panel, minutes, marks),
            "</g>",
        ]
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, minutes: float, marks: Sequence[float]) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - 12

    def x(minute: float) -> float:
        return round(LEFT + (right - LEFT) * minute / minutes, 1)

    def y(value: float) -> float:
        return round(bottom - (bottom - TOP) * panel.share(value), 1)

    yield f'<text x="{LEFT}" y="20" font-size="13" font-weight="600">{escape(panel.title)}</text>'
    for value in panel.ticks():
        yield f'<path d="M{LEFT} {y(value)}H{right}" stroke="#e7e5e4"/>'
        yield f'<text x="{LEFT - 6}" y="{y(value) + 4}" text-anchor="end">{value:,g}</text>'
    step = _step(minutes)
    for number in range(int(minutes / step) + 1):
        at = step * number
        yield f'<text x="{x(at)}" y="{bottom + 15}" text-anchor="middle">{at:g}</text>'
    for minute in marks:
        yield f'<path d="M{x(minute)} {TOP}V{bottom}" stroke="#a8a29e" stroke-dasharray="3 3"/>'
    for number, series in enumerate(panel.series):
        colour = COLOURS[number % len(COLOURS)]
        places = [(x(minute), y(value)) for minute, value in series.points]
        if series.joined:
            line = " ".join(f"{a},{b}" for a, b in places)
            yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        else:
            yield from (
                f'<circle cx="{a}" cy="{b}" r="1.8" fill="{colour}" fill-opacity=".65"/>'
                for a, b in places
            )
        top = TOP + 8 + 16 * number
        yield f'<circle cx="{right + 16}" cy="{top - 4}" r="4" fill="{colour}"/>'
        yield f'<text x="{right + 26}" y="{top}">{escape(series.name)}</text>'


def _step(greatest: float) -> float:
    """The round number of which three to seven make up the greatest value."""
    power = 10.0 ** math.floor(math.log10(greatest))
    return next(power * each for each in (0.2, 0.5, 1.0, 2.0) if greatest / (power * each) <= 7)
