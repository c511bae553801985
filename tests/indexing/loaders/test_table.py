"""Rows of tables as lines: which row names the columns, and what stands beside a table."""

from __future__ import annotations

import pytest

from indexing.loaders import table
from indexing.loaders.draft import Draft

CASES = {
    "names and rows": (
        "Item,Cost/Tea,2/Cake,4",
        ["2 Item: Tea | Cost: 2", "3 Item: Cake | Cost: 4"],
    ),
    "no names": ("1,2/3,4", ["1 1 | 2", "2 3 | 4"]),
    "a title above": ("Costs/Item,Cost/Tea,2", ["# Costs", "3 Item: Tea | Cost: 2"]),
    "years": ("Item,2025,2026/Tea,2,3", ["2 Item: Tea | 2025: 2 | 2026: 3"]),
    "a gap in the rows": (
        "Item,Cost/Tea,2//Cake,4",
        ["2 Item: Tea | Cost: 2", "4 Item: Cake | Cost: 4"],
    ),
    "another table below": (
        "Item,Cost/Tea,2//Guest,Age/Zoë,7",
        ["2 Item: Tea | Cost: 2", "5 Guest: Zoë | Age: 7"],
    ),
    "a part with a title": (
        "Item,Cost/Tea,2/North,North/Cake,4",
        ["2 Item: Tea | Cost: 2", "# North"],
    ),
    "names alone": ("Item,Cost", ["1 Item | Cost"]),
    "one column": ("Tea/Cake", ["1 Tea", "2 Cake"]),
    "cells beyond the names": ("Item,Cost/Tea,2,hot", ["2 Item: Tea | Cost: 2 | hot"]),
    "empty cells": ("Item,,Cost/Tea,iced,/,,4", ["2 Item: Tea | iced", "3 Cost: 4"]),
    "long words are no names": (f"{'a' * 90},b/c,d", [f"1 {'a' * 90} | b", "2 c | d"]),
}


@pytest.mark.parametrize("case", CASES)
def test_lines(case: str) -> None:
    text, expected = CASES[case]
    rows = [row.split(",") for row in text.split("/")]
    found = [f"{'#' if line.heading else line.number} {line.text}" for line in table.lines(rows)]
    assert found[: len(expected)] == expected


def test_names_in_two_storeys() -> None:
    rows = [["Item", "Cost", "Cost"], ["", "Q1", "2026"], ["Tea", "2", "3"]]
    (line,) = table.lines(rows, groups={0})
    assert line.text == "Item: Tea | Cost Q1: 2 | Cost 2026: 3"


def test_every_row_of_a_table_has_its_place_and_of_a_huge_one_a_few_share_it() -> None:
    for count, share in ((3, 1), (table.MOST_PLACES, 1), (2 * table.MOST_PLACES + 1, 3)):
        draft = Draft()
        draft.write("before")
        lines = [table.Line(number, f"cell {number}") for number in range(1, count + 1)]
        pages = table.write(draft, lines, first_page=5, named="Budget")
        found = draft.extract("a")
        assert pages == len(found.pages) == -(-count // share)
        assert [page.number for page in found.pages] == list(range(5, 5 + pages))
        first, last = found.pages[0], found.pages[-1]
        rest = (count - 1) % share + 1
        assert first.place == ("Budget, row 1" if share == 1 else f"Budget, rows 1-{share}")
        assert found.text[first.start :].startswith("cell 1\n")
        assert found.text[last.start : last.end].split("\n")[0] == f"cell {count - rest + 1}"
        assert found.breaks == (first.start,)
