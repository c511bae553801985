"""What a PDF is called: by its metadata, or its first page, or its file.

Papers come with names such as "2212.04356v1.pdf", and often without a title in their metadata. It
stands in the largest letters of the first page. A file that somebody has named in words keeps this
name, as people look for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING

from indexing.loaders.charset import clean
from indexing.text.reading_order import Row

if TYPE_CHECKING:
    from pypdf import PdfReader

LARGER = 1.2  # times the usual height of the page's lines, from which on letters are a title's
LIKE = 0.92  # of the largest line's height that its other lines have
FEWEST, MOST = 3, 30  # words of a title on a page
UPPER = 0.6  # share of the page in which it stands

_NO_TITLE = re.compile(
    r"\(?(?:anonymous|unspecified)\)?|adobe photoshop pdf|<[\da-f]+>"
    r"|(?:microsoft \w+ - )?(?:untitled|document|dokument|presentation)[ -]?(?:document)?\d*"
    r"|(?:microsoft (?:word|powerpoint) - )?.*\.(?:docx?|pptx?|tex|dvi|indd|pdf|rtf)|\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def title_of(reader: PdfReader, largest: str, stem: str) -> str:
    """The title of a document.

    Args:
        reader: The PDF.
        largest: What the first page has in its largest letters (`largest_lines`); "" for nothing.
        stem: The name of the file, without its ending.
    """
    named_in_words = len(_WORD.findall(stem)) > 1
    return _of_metadata(reader) or ("" if named_in_words else largest) or clean(stem)


def _of_metadata(reader: PdfReader) -> str:
    """The title in the metadata, unless a program put the name of a file there."""
    title = reader.metadata.title if reader.metadata else None
    words = " ".join(clean(title).split()) if isinstance(title, str) else ""
    return "" if _NO_TITLE.fullmatch(words) else words


def largest_lines(rows: Sequence[Row], height: float) -> str:
    """The lines of a page's upper part in its largest letters; "" where none stand out."""
    heights = [median(box.height for box in row) for row in rows]
    upper = [at for at, row in enumerate(rows) if row[0].bottom < UPPER * height]
    if not upper:
        return ""
    first = max(upper, key=lambda at: (heights[at], -at))
    if heights[first] < LARGER * median(heights):
        return ""
    lines = takewhile(lambda at: heights[at] >= LIKE * heights[first], range(first, len(rows)))
    title = " ".join(" ".join(box.text for box in rows[at]) for at in lines)
    title = re.sub(r"(?<=[a-z])- (?=[a-z])", "", " ".join(title.split()))
    return title if len(_WORD.findall(title)) >= FEWEST and len(title.split()) <= MOST else ""
