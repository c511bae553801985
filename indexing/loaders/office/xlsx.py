"""Excel workbooks: each row a line with the names of its columns, by python-calamine.

Of formulas, the values count that the program which saved the file computed.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from indexing.documents import Extract
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders import table
from indexing.loaders.charset import one_line, printable
from indexing.loaders.draft import Draft
from indexing.loaders.office.container import Kind, check, opened
from indexing.loaders.xml_file import name_of, parse
from indexing.message import N_

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

MOST_CELLS = 20_000_000  # of a sheet from its first to its last filled cell
NAMED = 20  # hidden sheets that are named

_Cell = int | float | str | bool | datetime.time | datetime.date | datetime.timedelta


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The sheets that are shown, one below the other; then which ones are hidden.

    Raises:
        UnreadableFile: It is no workbook, protected, damaged, or unpacks to too much.
    """
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    kind = check(path, ".xlsx")
    try:
        with CalamineWorkbook.from_path(path) as workbook:
            sheets = [
                each for each in workbook.sheets_metadata if each.typ is SheetTypeEnum.WorkSheet
            ]
            visible = [each.name for each in sheets if each.visible is SheetVisibleEnum.Visible]
            yield _extract(path, workbook, visible, _title(path, kind))
    except CalamineError as error:
        reason = N_(
            "is a damaged %(format)s (%(error)s)",
            format=kind.name,
            error=" ".join(str(error).split())[:100],
        )
        raise UnreadableFile(path, reason, kind.save_again) from None
    hidden = [each.name for each in sheets if each.visible is not SheetVisibleEnum.Visible]
    if hidden:
        more = f" and {len(hidden) - NAMED} more" if len(hidden) > NAMED else ""
        names = ", ".join(map(one_line, hidden[:NAMED])) + more
        reason = N_("has hidden sheets (%(which)s)", which=names)
        yield PartUnread(path, reason, N_("show them in a spreadsheet program and save, if wanted"))
    yield from _without_values(path, kind)


def _extract(path: Path, workbook: CalamineWorkbook, names: Sequence[str], title: str) -> Extract:
    draft, pages = Draft(), 0
    for name in names:
        sheet = workbook.get_sheet_by_name(name)
        if sheet.total_height * sheet.total_width > MOST_CELLS:
            reason = N_(
                "has a sheet (%(sheet)s) of more than %(number)s cells",
                sheet=one_line(name),
                number=f"{MOST_CELLS:,}",
            )
            remedy = N_("delete what stands far outside of the table, or save the sheet as .csv")
            raise UnreadableFile(path, reason, remedy)
        lines = _lines(sheet)
        if not lines:
            continue
        shown = one_line(name)
        pages += table.write(
            draft, lines, first_page=pages + 1, sheet=shown if len(names) > 1 else "", named=shown
        )
    return draft.extract(title)


def _lines(sheet: CalamineSheet) -> list[table.Line]:
    values: list[list[_Cell]] = sheet.to_python(skip_empty_area=False)
    rows = [[_text(cell) for cell in row] for row in values]
    groups = set()
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if top < len(rows) and left < len(rows[top]):
            _fill(rows, (top, left), (bottom, right))
            groups.update([top] if right > left else [])
    return [line for line in table.lines(rows, groups=groups) if line.text]


def _fill(rows: list[list[str]], first: tuple[int, int], last: tuple[int, int]) -> None:
    """A merged cell says the same in each place that it covers."""
    value = rows[first[0]][first[1]]
    for row in rows[first[0] : last[0] + 1]:
        for at in range(first[1], min(last[1] + 1, len(row))):
            row[at] = value


def _text(cell: _Cell) -> str:
    """A cell as people write it: dates as 2026-03-14, whole numbers without a point."""
    if isinstance(cell, str):
        return " ".join(printable(cell).split())
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}" if abs(cell) < 1e15 or not cell.is_integer() else f"{cell:.0f}"
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ", "minutes" if not cell.second else "seconds")
    if isinstance(cell, datetime.time):
        return cell.isoformat("minutes" if not cell.second else "seconds")
    return str(cell)


def _title(path: Path, kind: Kind) -> str:
    """The title among the properties, else the file's name."""
    with opened(path, kind) as archive:
        if "docProps/core.xml" in archive.namelist():
            root = parse(archive.read("docProps/core.xml"))
            for element in root:
                if name_of(element) == "title" and element.text and element.text.strip():
                    return one_line(element.text.strip())
    return printable(path.stem)


def _without_values(path: Path, kind: Kind) -> Iterator[PartUnread]:
    """Formulas that were saved without a value, by programs that do not compute."""
    with opened(path, kind) as archive:
        names = [name for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
        count = sum(_count_without_values(archive, name) for name in names)
    if count:
        remedy = N_("open it in a spreadsheet program and save it, so that they are computed")
        yield PartUnread(path, N_("has formulas without values (%(places)s)", places=count), remedy)


def _count_without_values(archive: ZipFile, name: str) -> int:
    """How many formulas of a sheet have none (ECMA-376, 18.3.1.4); cell by cell, to save memory."""
    from lxml import etree

    count = 0
    with archive.open(name) as file:
        cells = etree.iterparse(file, tag="{*}c", resolve_entities=False, no_network=True)
        for _, cell in cells:
            inside = {name_of(child): child.text for child in cell}
            count += "f" in inside and not inside.get("v") and cell.get("t") != "str"
            cell.clear()
    return count
