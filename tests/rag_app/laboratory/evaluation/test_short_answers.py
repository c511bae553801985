"""Word F1 and exact match, by hand."""

from __future__ import annotations

import pytest

from rag_app.laboratory.evaluation.short_answers import exact_match, word_f1


@pytest.mark.parametrize(
    ("found", "references", "f1", "exact"),
    [
        ("The ferry.", ["ferry"], 1.0, True),
        ("ferry to Ellmere", ["the ferry"], 0.5, False),
        ("ferry to Ellmere", ["boat", "Ellmere"], 0.5, False),
        ("12,500 euros", ["12500 euros"], 1.0, True),
        ("", ["ferry"], 0.0, False),
        ("ferry", [], 0.0, False),
        ("a b b", ["b b c"], 0.8, False),
    ],
)
def test_figures(found: str, references: list[str], f1: float, exact: bool) -> None:
    assert word_f1(found, references) == pytest.approx(f1)
    assert exact_match(found, references) is exact
