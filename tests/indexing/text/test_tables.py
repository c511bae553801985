"""A row of a table says what its cells are, where the first row surely names the columns."""

from __future__ import annotations

import pytest

from indexing.text.tables import labelled, markdown_columns, with_header

YEARS = [["Item", "2023", "2024"], ["Revenue", "1,310", "1,377"], ["Wages", "745", ""]]


def test_rows_have_the_names_of_the_columns() -> None:
    assert with_header(YEARS) == [
        "Item | 2023 | 2024",
        "Item: Revenue | 2023: 1,310 | 2024: 1,377",
        "Item: Wages | 2023: 745",
    ]
    assert with_header([["Name", "Role"], ["Ada", "chair"]], marked=True)[1] == (
        "Name: Ada | Role: chair"
    )
    tasks = [["Task", "Owner", "Status"], ["Book the hall", "Ada Park", "done"]]
    tasks.append(["Renew the insurance", "Ben Osei", "open"])
    assert with_header(tasks)[1] == "Task: Book the hall | Owner: Ada Park | Status: done"


@pytest.mark.parametrize(
    "rows",
    [
        [["Name", "Ada Park"], ["Date", "3 March"]],  # a form
        [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]],  # words over words
        [["Ada Park", "chair", "Leeds"], ["Ben Osei", "clerk", "York"], ["Li Wei", "dean", "Bath"]],
        [["12", "13", "14"], ["15", "16", "17"], ["1", "2", "3"]],  # numbers over numbers
        [["Sum", "Sum", "Sum"], ["1", "2", "3"], ["4", "5", "6"]],
        [["Item", "2023", "2024"], ["Wages", "745"], ["Tolls", "1", "2"]],
    ],
)
def test_in_doubt_they_stay_as_they_are(rows: list[list[str]]) -> None:
    assert with_header(rows) == [" | ".join(row) for row in rows]


def test_blank_rows_and_none() -> None:
    assert with_header([]) == []
    assert with_header([*YEARS, ["", "", ""]])[-1] == ""


def test_tables_of_markdown_name_the_columns_of_their_rows() -> None:
    text = (
        "Above | all\n\n| Item | 2023 |\n|:--|--:|\n| Wages | 745 |\n|Tolls|1|\n\nBeside.\n"
        "a | b\n--- | ---\n1 | 2\nBelow.\n---\n| x |\n|---|---|\n| y | z |"
    )
    first, second = markdown_columns(text)
    assert (first.names, second.names) == (("Item", "2023"), ("a", "b"))
    assert text[first.below : first.end].split("\n") == ["", "| Wages | 745 |", "|Tolls|1|"]
    assert text[second.below : second.end] == "\n1 | 2"


def test_a_row_is_read_with_the_names_of_its_columns() -> None:
    row = "| Wages |  | 745 |"
    said, origins = labelled(row, ("Item", "2022", "2023"))
    assert said == "Item: Wages | 2023: 745"
    for word in ("Wages", "745"):
        at, found = row.index(word), said.index(word)
        assert origins[found : found + len(word)] == list(range(at, at + len(word)))
    assert {origins[each] for each in range(len("Item: "))} == {row.index("Wages")}
