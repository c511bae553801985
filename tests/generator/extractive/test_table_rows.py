"""Of a table, the row that a question names is quoted, and the cell that answers stands out."""

from __future__ import annotations

from pathlib import Path

import pytest

from generator.extractive.table_rows import cell_of, cells, is_row
from indexing.encoder.encoder import Encoder
from rag_app.corpus.corpus import Corpus

ROWS = (
    ("Oar", "12", "Hull Timber", "2026-03-02"),
    ("Boat", "900", "Kestrel Yard", "2026-04-11"),
    ("Anchor", "75", "Ironworks Ltd", "2026-01-20"),
    ("Life jacket", "49", "SafeSea", "2026-05-05"),
    ("Rope", "8", "Hull Timber", "2026-02-14"),
    ("Sail", "240", "Canvas House", "2026-07-01"),
)
ASKED = (
    "How much does the {} cost?",
    "Who supplies the {}?",
    "When was the {} delivered?",
)


def test_the_row_that_is_named_answers_and_its_cell_stands_out(
    tmp_path: Path, encoder: Encoder
) -> None:
    table = tmp_path / "stock.csv"
    lines = (",".join(row) for row in (("item", "price", "supplier", "delivered"), *ROWS))
    table.write_text("\n".join(lines), "utf-8")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([table])
        for item, *values in ROWS:
            for question, value in zip(ASKED, values, strict=True):
                answer = corpus.ask(question.format(item.lower()))
                assert [item in each.quote for each in answer.citations] == [True], answer.text
                assert answer.short is not None and answer.short.text == value, answer.short
        supplied = corpus.ask("What does Hull Timber supply?").citations
        assert supplied and all("supplier: Hull Timber" in each.quote for each in supplied)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("item: Oar | price: 12", ["Oar", "12"]),
        ("| Oar | 12 |", ["Oar", "12"]),
        ("Oar |  | at: 10:30", ["Oar", "10:30"]),
        (" | ", []),
    ],
)
def test_cells(row: str, found: list[str]) -> None:
    assert is_row(row)
    assert [row[cell.start : cell.end] for cell in cells(row)] == found


@pytest.mark.parametrize(
    ("words", "cell"),
    [
        ("price: 12", "12"),
        ("12 | by: Hull Timber", "Hull Timber"),
        ("Timber", "Hull Timber"),
        ("of ash", "of ash"),
    ],
)
def test_words_are_of_one_cell_which_answers_as_a_whole_where_it_is_short(
    words: str, cell: str
) -> None:
    row = "item: Oar | price: 12 | by: Hull Timber | note: made of ash, light and strong, no rings"
    start, end = cell_of(row, row.index(words), row.index(words) + len(words))
    assert row[start:end] == cell


def test_the_column_that_is_asked_for_answers() -> None:
    row = "item: Oar | price: 12 | by: Hull Timber"
    for asked, cell in (({"price", "oar"}, "12"), ({"item", "oar", "12"}, "Oar"), ({"by"}, "Oar")):
        start, end = cell_of(row, row.index("Oar"), row.index("Oar") + 3, asked)
        assert row[start:end] == cell
