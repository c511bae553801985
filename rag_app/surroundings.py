"""The words around a span of a document."""

from __future__ import annotations

MARGIN = 260  # characters of context on each side


def surroundings(text: str, start: int, end: int, margin: int = MARGIN) -> tuple[int, int]:
    """The first character and one past the last of a span with what stands around it.

    On each side are at most `margin` characters, cut between words.
    """
    first, last = max(start - margin, 0), min(end + margin, len(text))
    if first:
        gaps = [at for mark in " \n" if (at := text.find(mark, first, start)) >= 0]
        first = min(gaps) + 1 if gaps else first
    if last < len(text) and (cut := text[end:last].rstrip().rfind(" ")) > 0:
        last = end + cut
    return first, last
