"""A quote of a scanned page is marked on the lines that OCR has found."""

from __future__ import annotations

import pytest

from indexing.ocr.reading import Line, PictureReading
from rag_app.chat.viewer.scanned_boxes import boxes

READING = PictureReading(
    (
        Line(0.1, 0.10, 0.9, 0.14, "The weir was repaired in", 0.99),
        Line(0.1, 0.16, 0.5, 0.20, "March. Nothing", 0.97),
    ),
    "engine 1",
)
TEXT = "The weir was repaired in\nMarch. Nothing"


def test_a_box_a_line() -> None:
    start = TEXT.index("repaired")
    (first, second) = boxes(READING, TEXT, start, TEXT.index(". Nothing"))
    assert first == pytest.approx((0.1 + 0.8 * 13 / 24, 0.10, 0.8 * 11 / 24, 0.04), abs=1e-4)
    assert second == pytest.approx((0.1, 0.16, 0.4 * 5 / 14, 0.04), abs=1e-4)


def test_in_doubt_none() -> None:
    assert boxes(READING, "Something else altogether", 0, 9) == []
