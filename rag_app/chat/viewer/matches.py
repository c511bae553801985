"""Search inside one document: the places of words in it, in order."""

from __future__ import annotations

import re

LONGEST = 400  # characters of a query
MOST = 1000  # matches that are told


def matches(text: str, query: str) -> list[tuple[int, int]]:
    """Spans of a text that hold a query's words one after the other, whatever their case.

    White space stands for any white space, so that what is broken into lines is found.
    """
    words = query[:LONGEST].split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    spans = []
    for match in pattern.finditer(text):
        spans.append(match.span())
        if len(spans) == MOST:
            break
    return spans
