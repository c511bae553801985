"""Rows of a table as lines that make sense alone: each cell with the name of its column.

"Item: Laptops | Q1: 1200 | Q2: 900" can be found, quoted and cited without the first row of the
table, which may stand thousands of rows above.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from indexing.loaders.draft import Draft
from indexing.text.tables import SHEET

Row = Sequence[str]

SEPARATOR = " | "
MOST_PLACES = 20_000  # rows with a place of their own; where there are more, several share one
LABEL = 80  # characters of a column's name
FIRST_ROWS = 10  # among which the names of the columns are looked for

_LETTER = re.compile(r"[^\W\d_]")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Line:
    """A row as a line of text."""

    number: int  # of the row, from 1
    text: str  # its cells
    heading: bool = False  # whether it is a title above a table and no row of one


def lines(rows: Sequence[Row], *, groups: Collection[int] = ()) -> Iterator[Line]:
    """The rows that have words, each with the names of the columns, which have no line themselves.

    Args:
        rows: Cells as text, of any number in each row.
        groups: Indexes of rows with a cell over several columns: with the row below, such a one
            names columns in two storeys ("2024 Q1").
    """
    names: list[str] = []
    for first, last in _blocks(rows):
        block, number = rows[first:last], first
        header = _header(block, strict=bool(names))
        if header is not None:
            yield from _titles(block[:header], first)
            below = header + 1
            names = [_label(cell) for cell in block[header]]
            if first + header in groups and below < len(block) and _may_name(block[below]):
                names = _two_storeys(names, block[below])
                below += 1
            if below == len(block):  # names of columns without rows
                yield Line(first + below, SEPARATOR.join(filter(None, names)))
            number, block = first + below, block[below:]
        for at, row in enumerate(block, number + 1):
            yield _line(at, row, names)


def write(
    draft: Draft, table: Sequence[Line], *, first_page: int, sheet: str = "", named: str = ""
) -> int:
    """Add lines to a draft, each row a page of its own; how many pages there are.

    Args:
        draft: What is written to.
        table: The lines.
        first_page: Number of the first page.
        sheet: Stands before each row, for files that have several; "" for nothing.
        named: The sheet's name in that of a place ("Budget, row 12"); "" for "row 12".
    """
    share = -(-len(table) // MOST_PLACES) or 1
    for at in range(0, len(table), share):
        group = table[at : at + share]
        draft.separate("\n\n" if at == 0 else "\n")
        start = 0
        for order, line in enumerate(group):
            draft.separate("\n\n" if line.heading else "\n")
            label = f"{SHEET}: {sheet}{SEPARATOR}" if sheet and not line.heading else ""
            begin = draft.write(label + line.text, heading=line.heading)
            start = begin if order == 0 else start
        if at == 0:
            draft.heading_at(start)
        draft.page(start, first_page + at // share, _place(group, named))
    return -(-len(table) // share)


def _place(group: Sequence[Line], sheet: str) -> str:
    first, last = group[0].number, group[-1].number
    rows = f"row {first}" if first == last else f"rows {first}-{last}"
    return f"{sheet}, {rows}" if sheet else rows


def _blocks(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Spans of rows between blank ones."""
    first = 0
    for number in range(len(rows) + 1):
        if number == len(rows) or not any(rows[number]):
            if number > first:
                yield first, number
            first = number + 1


def _header(block: Sequence[Row], *, strict: bool) -> int | None:
    """Which row of a block names the columns; None where none does.

    Args:
        block: Rows without a blank one between.
        strict: Whether names are known already, so that only a row that differs from those below,
            words above numbers, begins another table.
    """
    widest = max(_filled(row) for row in block)
    if widest < 2:
        return None
    for number, row in enumerate(block[:FIRST_ROWS]):
        if _is_one_title(row):
            continue
        if not _is_header(row) or 2 * _filled(row) < widest:
            return None
        return number if not strict or _differs(row, block[number + 1 :]) else None
    return None


def _is_header(row: Row) -> bool:
    """Whether the cells of a row may be names of columns, some of them words."""
    return any(_LETTER.search(cell) for cell in row) and _may_name(row)


def _may_name(row: Row) -> bool:
    """Whether all cells of a row may be names of columns: words, or years."""
    cells = [cell for cell in row if cell]
    return all(
        _YEAR.fullmatch(cell) or (len(cell) <= LABEL and _LETTER.search(cell)) for cell in cells
    )


def _is_one_title(row: Row) -> bool:
    """Whether a row has one cell, or the same over several columns."""
    return len({cell for cell in row if cell}) == 1


def _differs(header: Row, rows: Sequence[Row]) -> bool:
    """Whether a column has no words below its name."""
    return any(
        any(at < len(row) and row[at] for row in rows)
        and not any(at < len(row) and _LETTER.search(row[at]) for row in rows)
        for at, cell in enumerate(header)
        if cell
    )


def _titles(rows: Sequence[Row], first: int) -> Iterator[Line]:
    for number, row in enumerate(rows, first + 1):
        yield Line(number, SEPARATOR.join(dict.fromkeys(filter(None, row))), heading=True)


def _two_storeys(above: Sequence[str], below: Row) -> list[str]:
    """Names of columns, each with that of the group it is in."""
    width = max(len(above), len(below))
    upper = [*above, *[""] * (width - len(above))]
    lower = [*map(_label, below), *[""] * (width - len(below))]
    return [
        one if one == other or not other else f"{one} {other}".strip()
        for one, other in zip(upper, lower, strict=True)
    ]


def _line(number: int, row: Row, names: Sequence[str]) -> Line:
    """A row, or the title that stands in it: over several columns, or before there are names."""
    if _is_one_title(row) and (_filled(row) > 1 or not names):
        return Line(number, next(filter(None, row)), heading=_filled(row) > 1)
    return Line(number, _row_text(row, names))


def _row_text(row: Row, names: Sequence[str]) -> str:
    """The cells of a row that are filled, each with its column's name."""
    cells = []
    for at, cell in enumerate(row):
        name = names[at] if at < len(names) else ""
        if cell:
            cells.append(f"{name}: {cell}" if name else cell)
    return SEPARATOR.join(cells)


def _label(cell: str) -> str:
    return cell[:LABEL].rstrip(" :")


def _filled(row: Row) -> int:
    return sum(map(bool, row))
