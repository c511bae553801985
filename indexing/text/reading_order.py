"""The reading order of the pieces of text on a page: rows, and columns side by side.

Pieces are put into rows. Consecutive rows that leave the same strip of the page blank, with prose
on both sides of it, are columns: all of the left one is read before the right one, and each may be
made of columns again. Rows beside a strip without prose are those of a table and stay rows. This is
the recursive cut of Nagy and Seth (1984, Hierarchical representation of optically scanned
documents), with the longest run of rows in place of the widest gap, so that paragraphs that happen
to end side by side do not part the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

MOST_ROWS = 400  # of a page of prose there are 70; with more, the rows stay as they are
GAP = 0.9  # least width of the strip between columns, in heights of a line
COLUMN_ROWS = 3  # rows that each column has at least
COLUMN_WORDS = 3  # words that half of the pieces of a column have at least
SAME_ROW = 0.5  # share of the lower of two pieces by which they overlap if they are in one row


@dataclass(frozen=True, slots=True)
class TextBox:
    """A piece of text on a page, of one line; `top` is less than `bottom`, as on a screen."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        """Of the line."""
        return self.bottom - self.top


Row = tuple[TextBox, ...]
"""Pieces in one line of the page, from left to right."""


def rows_in_order(boxes: Sequence[TextBox]) -> list[Row]:
    """The rows of a page in the order in which they are read."""
    rows = _rows(boxes)
    if not rows or len(rows) > MOST_ROWS:
        return rows
    return _in_order(rows, GAP * median(box.height for box in boxes))


def _rows(boxes: Sequence[TextBox]) -> list[Row]:
    """Pieces put into rows, from the top."""
    rows: list[list[TextBox]] = []
    top = bottom = 0.0  # of the first piece in the row: what is taller does not widen it
    for box in sorted(boxes, key=lambda box: (box.top + box.bottom, box.left)):
        overlap = min(bottom, box.bottom) - max(top, box.top)
        if rows and overlap > SAME_ROW * min(bottom - top, box.height):
            rows[-1].append(box)
        else:
            rows.append([box])
            top, bottom = box.top, box.bottom
    return [tuple(sorted(row, key=lambda box: box.left)) for row in rows]


def _in_order(rows: list[Row], gap: float) -> list[Row]:
    ordered: list[Row] = []
    at = 0
    while at < len(rows):
        cut = _columns(rows, at, gap)
        if cut is None:
            ordered.append(rows[at])
            at += 1
            continue
        end, x = cut
        for side in _sides(rows[at:end], x):
            ordered += _in_order(side, gap)
        at = end
    return ordered


def _columns(rows: list[Row], first: int, gap: float) -> tuple[int, float] | None:
    """Where the longest run of rows in columns ends, and the middle of the strip between them."""
    covered: list[tuple[float, float]] = []  # spans from left to right, apart from each other
    best: tuple[int, float] | None = None
    for last in range(first, len(rows)):
        for box in rows[last]:
            covered = _joined(covered, (box.left, box.right))
        if len(covered) == 1 and last > first and covered[0][1] - covered[0][0] >= _width(rows):
            break
        for (_, left), (right, _) in pairwise(covered):
            middle = (left + right) / 2
            if right - left >= gap and _are_prose(_sides(rows[first : last + 1], middle)):
                best = last + 1, middle
                break
    return best


def _width(rows: list[Row]) -> float:
    """From the leftmost piece to the rightmost."""
    return max(row[-1].right for row in rows) - min(row[0].left for row in rows)


def _joined(
    covered: list[tuple[float, float]], span: tuple[float, float]
) -> list[tuple[float, float]]:
    """Spans with another one, which those it touches become a part of."""
    left, right = span
    apart = []
    for one in covered:
        if one[1] < left or one[0] > right:
            apart.append(one)
        else:
            left, right = min(left, one[0]), max(right, one[1])
    return sorted([*apart, (left, right)])


def _sides(rows: Sequence[Row], x: float) -> tuple[list[Row], list[Row]]:
    """What is left and what is right of a vertical line that crosses nothing."""
    left = [tuple(box for box in row if box.left < x) for row in rows]
    right = [tuple(box for box in row if box.left >= x) for row in rows]
    return [row for row in left if row], [row for row in right if row]


def _are_prose(sides: tuple[list[Row], list[Row]]) -> bool:
    """Whether both sides are columns of text and not cells of a table."""
    return all(
        len(side) >= COLUMN_ROWS
        and median(len(box.text.split()) for row in side for box in row) >= COLUMN_WORDS
        for side in sides
    )
