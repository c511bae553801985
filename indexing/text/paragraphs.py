"""Where paragraphs begin on a page: at lines that stand further from the one above than usual.

Headings, captions and what a typesetter sets apart have a wider gap above; so the lines of a page
can be put together with a blank line there, and a heading does not run on into the sentence below.
A page may have text of several sizes, so "usual" are the lines nearby, not those of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median_low

from indexing.text.reading_order import Row, TextBox

WIDER = 1.3  # times the usual distance of two lines, from which on they are apart
NEARBY = 4  # distances before and after, of which the median is usual
FEWEST = 3  # distances that tell what is usual
_ENDS = ".?!:;\u201d\"')]"


def paragraph_starts(rows: Sequence[Row]) -> frozenset[int]:
    """Which rows of a page begin a paragraph, by index; of those in doubt, none.

    A line that goes on in lower case after one without a mark at its end is no beginning, whatever
    stands between them: most often a formula.
    """
    distances = [None, *(_distance(above, below) for above, below in pairwise(rows))]
    return frozenset(
        at
        for at, distance in enumerate(distances)
        if distance is not None
        and (usual := _usual(distances, at)) is not None
        and distance > WIDER * usual
        and not _goes_on(rows[at - 1], rows[at])
    )


def _distance(above: Row, below: Row) -> float | None:
    """From baseline to baseline; None where the row is not below in the same column."""
    one, other = _widest(above), _widest(below)
    if min(above[-1].right, below[-1].right) <= max(above[0].left, below[0].left):
        return None
    distance = other.bottom - one.bottom
    return distance if distance > 0 else None


def _widest(row: Row) -> TextBox:
    return max(row, key=lambda box: box.right - box.left)


def _usual(distances: Sequence[float | None], at: int) -> float | None:
    around = [*distances[max(0, at - NEARBY) : at], *distances[at + 1 : at + 1 + NEARBY]]
    known = [each for each in around if each is not None]
    return median_low(known) if len(known) >= FEWEST else None


def _goes_on(above: Row, below: Row) -> bool:
    end, start = above[-1].text.rstrip(), below[0].text.lstrip()
    return bool(start) and start[0].islower() and bool(end) and end[-1] not in _ENDS
