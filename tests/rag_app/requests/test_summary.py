"""How decisions are told in computed answers."""

from __future__ import annotations

import pytest

from generator.overview.overview import Quote
from indexing.files import document
from rag_app.requests.summary import decided
from rag_app.requests.wording import WORDINGS


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Decision: we order the frame.", ""),
        ("**Decision:** we order the frame.", ""),
        ("Beschluss 2025/3: Das Fest ist im Juni.", ""),
        ("We agreed: the frame is blue.", "Beschlossen:"),
        ("Decisions are hard.", "Beschlossen:"),
    ],
)
def test_a_quote_with_a_heading_of_its_own_gets_no_other(text: str, heading: str) -> None:
    whole = document(text, name="minutes.txt")
    line = decided(whole, Quote(0, len(text), text), WORDINGS["de"])
    assert line.text == heading and line.quote is not None and line.quote.text == text
