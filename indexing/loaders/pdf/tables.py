"""Tables on a PDF's page, recognised only where their cells are ruled."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from indexing.text.reading_order import TextBox

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

MOST_OBJECTS = 5_000  # of a page that are looked at; drawings have more
MOST_RULES = 600
STRAIGHT = 1.0  # points by which a rule may lean, and two may differ that are one
LEAST = 5.0  # points of a rule, and between two of them

Rule = tuple[float, float, float]
"""Where a line stands across its direction, where it begins and where it ends."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The rules of a table: x of the vertical ones, y of the horizontal ones, ascending."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    def cell(self, box: TextBox) -> tuple[int, int] | None:
        """The row and column in which a word has its middle; None outside."""
        column = _between(self.columns, (box.left + box.right) / 2)
        row = _between(self.rows, (box.top + box.bottom) / 2)
        return None if row is None or column is None else (row, column)


def grids(page: PdfPage) -> list[Grid]:
    """The ruled tables of a page, two rows of two columns at least."""
    across, down = [], []
    height = page.get_height()
    for (x0, y0), (x1, y1) in _lines(page):
        if abs(y0 - y1) <= STRAIGHT and abs(x0 - x1) >= LEAST:
            across.append((height - (y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x0 - x1) <= STRAIGHT and abs(y0 - y1) >= LEAST:
            down.append(((x0 + x1) / 2, height - max(y0, y1), height - min(y0, y1)))
    rows, columns = _merged(across), _merged(down)
    if len(rows) + len(columns) > MOST_RULES:
        return []
    return [grid for group in _groups(rows, columns) if (grid := _grid(*group))]


Point = tuple[float, float]


def _lines(page: PdfPage) -> Iterator[tuple[Point, Point]]:
    """The straight lines that are drawn on a page, in points from its lower left corner."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFPage_CountObjects(page)
    if count > MOST_OBJECTS:
        return
    for at in range(count):
        shape = pdfium.FPDFPage_GetObject(page, at)
        if pdfium.FPDFPageObj_GetType(shape) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPath_CountSegments(shape) <= 4 * MOST_RULES:
            yield from _sides(shape)


def _sides(shape: Any) -> Iterator[tuple[Point, Point]]:  # noqa: ANN401 - a pointer of pdfium's
    """The straight sides of one path."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(shape, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    begun = last = (0.0, 0.0)
    for at in range(pdfium.FPDFPath_CountSegments(shape)):
        segment = pdfium.FPDFPath_GetPathSegment(shape, at)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            begun = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield last, point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield point, begun
        last = point


def _merged(rules: list[Rule]) -> list[Rule]:
    """Rules put together that go on in one line."""
    lines: list[list[Rule]] = []
    for rule in sorted(rules):
        if lines and rule[0] - lines[-1][-1][0] <= STRAIGHT:
            lines[-1].append(rule)
        else:
            lines.append([rule])
    merged = []
    for line in lines:
        at = line[0][0]
        begin, end = float("inf"), float("-inf")
        for _, first, last in sorted(line, key=lambda rule: rule[1]):
            if first > end + 2 * STRAIGHT and end > begin:
                merged.append((at, begin, end))
                begin, end = first, last
            begin, end = min(begin, first), max(end, last)
        merged.append((at, begin, end))
    return merged


def _groups(
    rows: Sequence[Rule], columns: Sequence[Rule]
) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Rules that hang together: those that cross or touch, and what crosses these."""
    left, right = list(rows), list(columns)
    while left:
        group, found = [left.pop()], [[], []]  # type: ignore[var-annotated]
        side = 0
        while group:
            found[side] += group
            pool = right if side == 0 else left
            crossing = [one for one in pool if any(_cross(one, other) for other in group)]
            for one in crossing:
                pool.remove(one)
            group, side = crossing, 1 - side
        yield found[0], found[1]


def _cross(one: Rule, other: Rule) -> bool:
    slack = 2 * STRAIGHT
    return (
        other[1] - slack <= one[0] <= other[2] + slack
        and one[1] - slack <= other[0] <= one[2] + slack
    )


def _grid(rows: Sequence[Rule], columns: Sequence[Rule]) -> Grid | None:
    """The grid of rules, if it has two rows and two columns."""
    ys, xs = (_apart(sorted(rule[0] for rule in rules)) for rules in (rows, columns))
    return Grid(tuple(xs), tuple(ys)) if len(xs) >= 3 and len(ys) >= 3 else None


def _apart(values: Sequence[float]) -> list[float]:
    """Values without those just above the one before: the other side of a thick line."""
    distinct: list[float] = []
    for value in values:
        if not distinct or value - distinct[-1] >= LEAST:
            distinct.append(value)
    return distinct


def _between(marks: Sequence[float], value: float) -> int | None:
    """Between which two marks a value lies, from 0."""
    for at, (low, high) in enumerate(pairwise(marks)):
        if low <= value < high:
            return at
    return None
