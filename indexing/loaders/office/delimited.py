"""Tables as text (.csv, .tsv): each row a line with the names of its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders import table
from indexing.loaders.charset import printable, read_text, remarks
from indexing.loaders.draft import Draft
from indexing.message import N_

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 50  # lines that tell which of them it is
LONGEST = 1 << 30  # characters of a cell


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The table, its places the numbers of its rows.

    Raises:
        UnreadableFile: It is binary, or in no encoding that can be recognised.
    """
    text = read_text(path)
    rows, damaged = _rows(text, "\t" if path.suffix.lower() == ".tsv" else _delimiter(text))
    draft = Draft()
    table.write(draft, [line for line in table.lines(rows) if line.text], first_page=1)
    yield draft.extract(printable(path.stem))
    if damaged:
        reason = N_(
            "has a quotation mark that is never closed, so quotation marks are read as text"
        )
        yield PartUnread(path, reason, N_("close it, or save the table again"))
    yield from remarks(path)


def _delimiter(text: str) -> str:
    """The mark that stands equally often in most lines, by the first of them; a comma if none."""
    head = "\n".join(text.split("\n", SAMPLE)[:SAMPLE])

    def evenness(mark: str) -> tuple[int, int]:
        widths = [len(row) for row in _parsed(head, mark, strict=False) if row]
        wide = [width for width in widths if width > 1]
        most = max(set(wide), key=wide.count, default=0)
        return wide.count(most), most

    return max(DELIMITERS, key=evenness)


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], bool]:
    """The cells, and whether quotation marks had to be taken for text."""
    try:
        return _parsed(text, delimiter, strict=True), False
    except csv.Error as error:
        if "end of data" not in str(error):  # a mark within a cell, as many programs write it
            return _parsed(text, delimiter, strict=False), False
    return _parsed(text, delimiter, strict=False, quoting=csv.QUOTE_NONE), True


def _parsed(
    text: str, delimiter: str, *, strict: bool, quoting: int = csv.QUOTE_MINIMAL
) -> list[list[str]]:
    csv.field_size_limit(LONGEST)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        strict=strict,
        quoting=quoting,  # type: ignore[arg-type]
        skipinitialspace=True,
    )
    return [[" ".join(cell.split()) if cell else "" for cell in row] for row in reader]
