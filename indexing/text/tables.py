"""Rows of a table as lines that can be found and understood alone: cells with their columns' names.

The row that names the columns stays as it is, and each row below says what its cells are:
"Item: Wages | 2023: 745 | 2024: 790". Only where it is certain that the first row names columns.
Markdown keeps its text as it stands: there the names are found in the row above the rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

SEPARATOR = " | "
SHEET = "Sheet"  # of the name of a workbook's sheet, which stands in each of its rows
LABEL = 60  # characters of a column's name, at most

RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
"""The rule below the names of a table's columns (GitHub Flavored Markdown 0.29, 4.10)."""

_RULED = re.compile(rf"\n[ \t]*({RULE.pattern})[ \t]*(?=\n|\Z)")
_ROWS = re.compile(r"(?:\n[^\n|]*\|[^\n]*)*")
_PLAIN_ROWS = re.compile(r"(?m)^[^\n|]+ \| [^\n]+\n(?:[^\n]* \|[^\n]*(?:\n|\Z)){2,}")
_BETWEEN = re.compile(r" \| | \|$")
_FRAME = re.compile(r"(?<!\\)\|")

_NUMBER = re.compile(r"[^\w]*\d[\d\s.,:/%()+-]*[^\w]*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of a table's columns, and where the rows are that do not say them."""

    names: tuple[str, ...]  # of the columns
    start: int  # first character of the row of names
    below: int  # one past the rule below it
    end: int  # one past the last row


def is_row(text: str) -> bool:
    """Whether a line is a row of a table."""
    return SEPARATOR in text or (_is_framed(text) and text.count("|") > 2)


def _is_framed(row: str) -> bool:
    return row.lstrip().startswith("|") and row.rstrip().endswith("|")


def cell_spans(row: str) -> list[tuple[int, int]]:
    """Where each cell of a row stands, empty ones too, without the blanks around it."""
    framed = _is_framed(row)
    marks = [mark.span() for mark in (_FRAME if framed else _BETWEEN).finditer(row)]
    starts, ends = [0, *(end for _, end in marks)], [*(start for start, _ in marks), len(row)]
    inner = slice(1, -1) if framed else slice(None)
    return [_bare(row, *each) for each in zip(starts[inner], ends[inner], strict=True)]


def _bare(row: str, start: int, end: int) -> tuple[int, int]:
    """A span without the blanks at its ends."""
    words = row[start:end]
    first = start + len(words) - len(words.lstrip())
    return first, max(first, start + len(words.rstrip()))


def markdown_columns(text: str) -> list[Columns]:
    """The names of the columns of each table of Markdown in a text, in order."""
    tables = []
    for rule in _RULED.finditer(text) if "|" in text else ():
        start = text.rfind("\n", 0, rule.start()) + 1
        head = text[start : rule.start()]
        names = tuple(head[first:last] for first, last in cell_spans(head))
        if "|" in rule[1] and is_row(head) and len(names) == len(re.findall("-+", rule[1])):
            rows = _ROWS.match(text, rule.end(1))
            tables.append(Columns(names, start, rule.end(1), rows.end() if rows else rule.end()))
    return tables


@lru_cache(maxsize=64)
def table_columns(text: str) -> tuple[Columns, ...]:
    """The names of the columns of all tables whose rows do not say them, in order."""
    every = [*markdown_columns(text), *plain_columns(text)]
    return tuple(sorted(every, key=lambda table: table.below))


def plain_columns(text: str) -> list[Columns]:
    """The names of the columns of tables without a rule, where the first row surely is of names.

    That is a row of three or more different cells without a digit, above two rows or more of as
    many cells, which do not say their columns themselves and have more to say than the first.
    """
    tables = []
    for block in _PLAIN_ROWS.finditer(text) if SEPARATOR in text else ():
        head, *below = block.group().rstrip("\n").split("\n")
        names = tuple(head[first:last] for first, last in cell_spans(head))
        if _is_head(names, below):
            start = block.start() + len(head)
            tables.append(Columns(names, block.start(), start, block.end()))
    return tables


def _is_head(names: Sequence[str], below: Sequence[str]) -> bool:
    """Whether the cells of a first row name the columns of the rows below it."""
    if len(names) < 3 or len({*names}) < len(names) or not all(names):
        return False
    if any(len(name) > LABEL or any(map(str.isdigit, name)) for name in names):
        return False
    spans = [cell_spans(row) for row in below]
    if any(len(each) != len(names) for each in spans):
        return False
    cells = [row[a:b] for row, each in zip(below, spans, strict=True) for a, b in each]
    says = sum(": " in cell for cell in cells)
    most = max(len(name.split()) for name in names)
    longest = max((len(cell.split()) for cell in cells), default=0)
    return 3 * says < len(cells) and (longest > most or any(map(_NUMBER.fullmatch, cells)))


def labelled(row: str, names: Sequence[str]) -> tuple[str, list[int]]:
    """A row with the names of its columns, as rows of other formats have them.

    Returns:
        The line, and of each of its characters which one of `row` it is; those of a name count as
        the first of the cell.
    """
    pieces: list[str] = []
    origins: list[int] = []
    spans = cell_spans(row)
    unnamed = [""] * (len(spans) - len(names))
    for name, (start, end) in zip([*names, *unnamed], spans, strict=False):
        if start < end:
            before = (SEPARATOR if pieces else "") + (f"{name}: " if name else "")
            pieces.append(before + row[start:end])
            origins += [start] * len(before) + list(range(start, end))
    return "".join(pieces), origins


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
    its cells differ, are short and no numbers but years, above a column that is of numbers, or
    above several, half of all at least, in which every cell has more words ("Owner", "Ada Park").
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
    columns = [[cell for cell in column if cell] for column in zip(*below, strict=True)]
    numbers = any(all(map(_NUMBER.fullmatch, column)) for column in columns)
    return numbers or _are_shorter(names, columns)


def _are_shorter(names: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether every cell has more words than the name above, in two columns and half of all."""
    shorter = sum(
        len(column) > 1 and all(len(cell.split()) > len(name.split()) for cell in column)
        for name, column in zip(names, columns, strict=True)
    )
    return shorter > 1 and 2 * shorter >= len(names)


def _said(row: Sequence[str], names: Sequence[str]) -> str:
    if not any(row):
        return ""
    if not names:
        return SEPARATOR.join(row)
    cells = zip(names, row, strict=True)
    return SEPARATOR.join(f"{name}: {cell}" if name else cell for name, cell in cells if cell)
