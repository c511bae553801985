"""Questions about rows of tables, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.table_rows import TABLES, WRITERS, Table, measure
from indexing.loaders import LOADERS


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_row_is_in_the_files(suffix: str, tmp_path: Path) -> None:
    tables = [Table(**each) for each in json.loads(TABLES.read_text("utf-8"))]
    WRITERS[suffix](tables, tmp_path / f"tables.{suffix}")
    texts = "".join(
        each.text
        for file in sorted(tmp_path.iterdir())
        for each in LOADERS[f".{suffix}"].load(file)
        if not isinstance(each, Exception)
    )
    assert all(name in texts for table in tables for name, *_ in table.rows)


def test_a_table_is_asked_for_its_cells() -> None:
    table = Table("T", "first", "en", "Prices.", "Paid.", ["item", "price"], [], [], True, {}, [])
    rows = [["Oar", "12"], ["Boat", "900"]]
    asked = {"rows": rows, "questions": {"1": ["What is the price of the {}?"]}}
    shop = Table(**{**{name: getattr(table, name) for name in table.__slots__}, **asked})
    counts = measure([shop], "md")
    assert (counts.asked, counts.alone, counts.right, counts.wrong) == (2, 2, 2, 0)
