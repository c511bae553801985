"""What became of a quote by the documents that a corpus has, and what a refresh said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.refresh import Edited, _standings
from benchmarks.refresh.edited import Line, Made, as_held

BEFORE = Made("a.txt", "Notes", (Line("tea", "We had tea."), Line("lead", "Ann leads it.")))
RENAMED = replace(BEFORE, name="b.txt")
EDITED = replace(BEFORE, lines=(BEFORE.lines[0], Line("lead", "Bob leads it.")))
BOTH = replace(EDITED, name="b.txt")


def test_which_document_a_corpus_has() -> None:
    assert as_held(BEFORE, RENAMED) is RENAMED and as_held(BEFORE, EDITED) is EDITED
    assert as_held(BEFORE, BOTH) is None and as_held(BEFORE, None) is None


def test_standings_of_quotes_and_what_was_said() -> None:
    start = BEFORE.text.index("Ann")
    quote = {"path": "/x/a.txt", "quote": "Ann leads it.", "start": start, "end": start + 13}
    first = [{"id": "1", "citations": [quote]}]

    def found(both: Edited, *said: str) -> list[Any]:
        quotes = [{**quote, "now": {"standing": one}} for one in said]
        return list(_standings(first, {"1": quotes} if quotes else {}, both))

    assert found([(BEFORE, BEFORE)]) == [("same", "same", False)]
    assert found([(BEFORE, RENAMED)]) == [("same", "same", False)]
    assert found([(BEFORE, EDITED)], "altered") == [("altered", "altered", False)]
    assert found([(BEFORE, EDITED)]) == [("altered", "same", False)]  # it was not asked again
    assert found([(BEFORE, BOTH)], "gone") == [("gone", "gone", True)]
    assert found([(BEFORE, None)], "gone") == [("gone", "gone", False)]
