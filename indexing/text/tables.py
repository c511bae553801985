"""Rows of a table as lines that can be found and understood alone: cells with their columns' names.

The row that names the columns stays as it is, and each row below says what its cells are:
"Item: Wages | 2023: 745 | 2024: 790". Only where it is certain that the first row names columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SEPARATOR = " | "
LABEL = 60  # characters of a column's name, at most

_NUMBER = re.compile(r"[^\w]*\d[\d\s.,:/%()+-]*[^\w]*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LETTER = re.compile(r"[^\W\d_]")


def with_header(rows: Sequence[Sequence[str]], *, marked: bool = False) -> list[str]:
    """A line for each row, "" for one without words.

    Args:
        rows: Cells as text.
        marked: Whether the document says that the first row names the columns.
    """
    if not rows:
        return []
    names = rows[0] if _names_columns(rows, marked=marked) else ()
    return [_said(rows[0], ()), *(_said(row, names) for row in rows[1:])]


def _names_columns(rows: Sequence[Sequence[str]], *, marked: bool) -> bool:
    """Whether the first row surely names the columns of those below.

    It does where the document says so; else in a table of three columns and three rows or more, if
    its cells differ, are short and no numbers but years, above a column that is of numbers.
    """
    names, below = rows[0], rows[1:]
    filled = [name for name in names if name]
    if len(filled) < 2 or not below or any(len(row) != len(names) for row in below):
        return False
    if len({*filled}) < len(filled) or any(len(name) > LABEL for name in filled):
        return False
    if marked:
        return True
    if len(names) < 3 or len(below) < 2 or not all(names[1:]):
        return False
    if any(not _LETTER.search(name) and not _YEAR.fullmatch(name) for name in filled):
        return False
    columns = zip(*below, strict=True)
    return any(all(_NUMBER.fullmatch(cell) for cell in column if cell) for column in columns)


def _said(row: Sequence[str], names: Sequence[str]) -> str:
    if not any(row):
        return ""
    if not names:
        return SEPARATOR.join(row)
    cells = zip(names, row, strict=True)
    return SEPARATOR.join(f"{name}: {cell}" if name else cell for name, cell in cells if cell)
