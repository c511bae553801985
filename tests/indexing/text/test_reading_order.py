"""Columns are read one after the other, tables row by row."""

from __future__ import annotations

from indexing.text.reading_order import TextBox, rows_in_order

PROSE = "five words of plain prose"


def column(name: str, left: float, top: float, lines: int, step: float = 12) -> list[TextBox]:
    return [
        TextBox(left, top + at * step, left + 100, top + at * step + 10, f"{name}{at} {PROSE}")
        for at in range(lines)
    ]


def read(boxes: list[TextBox]) -> list[str]:
    return [" ".join(box.text.split()[0] for box in row) for row in rows_in_order(boxes)]


def test_columns_are_read_one_after_the_other_whatever_the_order_in_the_file() -> None:
    left, right = column("a", 0, 40, 5), column("b", 120, 40, 6)
    heading = TextBox(0, 0, 220, 14, "H over both")
    footnote = TextBox(0, 150, 220, 160, "F below both")
    names = ["H", *(f"a{at}" for at in range(5)), *(f"b{at}" for at in range(6)), "F"]
    assert read([*right, footnote, *left, heading]) == names
    woven = [box for pair in zip(left, right, strict=False) for box in pair]
    assert read([heading, *woven, right[-1], footnote]) == names


def test_columns_with_lines_at_other_heights_and_three_of_them() -> None:
    boxes = column("a", 0, 0, 4) + column("b", 120, 5, 4) + column("c", 240, 3, 4, step=13)
    assert read(boxes) == [f"{name}{at}" for name in "abc" for at in range(4)]


def test_rows_of_a_table_stay_rows() -> None:
    table = ("Item 2023 2024", "Wages 711 745", "Tolls 12 13", "x 1 2")
    cells = [
        TextBox(x, 12 * at, x + 40, 12 * at + 10, text)
        for at, row in enumerate(table)
        for x, text in zip((0, 120, 240), row.split(), strict=True)
    ]
    assert read(cells) == [*table]


def test_nothing_and_one_line() -> None:
    assert rows_in_order([]) == []
    (row,) = rows_in_order(column("a", 0, 0, 1))
    assert row[0].text == f"a0 {PROSE}"
