"""Headers, footers and page numbers: lines that repeat at one place of the pages.

A line is left out only where that is certain: it is among the first or last of its page, with none
between it and the edge that stays; it stands in the margin, says the same (but for numbers) at the
same height on three pages that follow each other closely, and is not all that its page says. The
first of them keeps it, so that its words can be found, unless they stand on the document's first
page: a title is found there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from indexing.text.paragraphs import paragraph_starts
from indexing.text.reading_order import Row

MARGIN = 0.12  # share of the page's height, above and below, in which such lines stand
MOST = 3  # such lines above, and below
LEAST = 3  # pages on which it repeats
APART = 2  # pages from one to the next, on average: left and right pages may differ
GRAIN = 100  # heights on a page that are told apart
_NUMBER = re.compile(
    r"\W*(?:page|seite|p\.|s\.)?\W*(\d{1,5})(?:\W*(?:of|von|/)\W*\d{1,5})?\W*", re.IGNORECASE
)
_NUMBERING = re.compile(r"^\W*\d{1,5}\W+|\W+\d{1,5}\W*$")  # the page's, beside a title


@dataclass(frozen=True, slots=True)
class _Line:
    """A line in the margin of a page; pages and lines are counted from 0."""

    page: int
    at: int


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page in reading order, and which of them stand in its margins.

    Attributes:
        lines: With " " between the pieces of one.
        margins: The highest and the lowest lines that are there, the outermost first: the line's
            index, and its middle as a share of the page's height.
        starts: The lines that begin a paragraph, by index, as far as the page shows it.
        largest: What is written in its largest letters, where they stand out and it was looked at.
    """

    lines: tuple[str, ...]
    margins: tuple[tuple[int, float], ...] = ()
    starts: frozenset[int] = frozenset()
    largest: str = ""

    def text_without(self, left_out: Collection[int]) -> str:
        """The lines but for some, a newline between them, a blank line before a paragraph."""
        text, apart = "", False
        for at, line in enumerate(self.lines):
            apart = apart or at in self.starts
            if at not in left_out:
                text += ("\n\n" if apart else "\n") * bool(text) + line
                apart = False
        return text

    @classmethod
    def of(cls, rows: Sequence[Row], height: float) -> PageLines:
        """The lines of rows on a page of that height, from the same unit."""
        lines = tuple(" ".join(box.text for box in row) for row in rows)
        if len(rows) < 2 or height <= 0:
            return cls(lines)
        order = sorted(range(len(rows)), key=lambda at: rows[at][0].top)
        middles = [(at, (rows[at][0].top + rows[at][0].bottom) / 2 / height) for at in order]
        above = (one for one in middles[:MOST] if one[1] <= MARGIN)
        below = (one for one in middles[: -MOST - 1 : -1] if one[1] >= 1 - MARGIN)
        margins = (*above, *below)
        return cls(lines, margins, paragraph_starts(rows))


def running_heads(pages: Sequence[PageLines]) -> list[set[int]]:
    """Which lines of each page are left out, by index."""
    found: list[set[int]] = [set() for _ in pages]
    repeated: dict[tuple[int, str], list[_Line]] = defaultdict(list)
    numbers: dict[tuple[int, int], list[_Line]] = defaultdict(list)
    for number, page in enumerate(pages):
        for at, middle in page.margins:
            text, place = page.lines[at], round(middle * GRAIN)
            line = _Line(number, at)
            repeated[place, re.sub(r"\d+", "#", text)].append(line)
            if said := _NUMBER.fullmatch(text):
                numbers[place, int(said[1]) - number].append(line)
    first_page = " ".join(pages[0].lines) if pages else ""
    for lines in repeated.values():
        first = lines[0]
        stays = (
            first.page == 0
            or _NUMBERING.sub("", pages[first.page].lines[first.at]) not in first_page
        )
        for line in lines[stays:] if _is_sure(lines) else ():
            found[line.page].add(line.at)
    for lines in numbers.values():
        for line in lines if _is_sure(lines) else ():
            found[line.page].add(line.at)
    for out, page in zip(found, pages, strict=True):
        out &= set(_outermost(page, out))
    return [
        out if len(out) < len(page.lines) else set() for out, page in zip(found, pages, strict=True)
    ]


def _outermost(page: PageLines, out: Collection[int]) -> Iterator[int]:
    """Lines that are left out up to the first one that stays, from either edge."""
    for edge in (True, False):
        lines = (at for at, middle in page.margins if (middle < 1 / 2) == edge)
        yield from takewhile(lambda at: at in out, lines)


def _is_sure(lines: Sequence[_Line]) -> bool:
    """Whether lines are on enough pages that are close to each other."""
    pages = len({line.page for line in lines})
    return pages >= LEAST and lines[-1].page - lines[0].page + 1 <= APART * pages
