"""Citation markers: a generated answer as it streams, each complete sentence with its marker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from generator.answer import MARK, NOT_SAID, UNSUPPORTED_MARK
from generator.attribution.citer import Citer
from indexing.text.sentences import sentences

_MARKER = re.compile(f" ?{MARK.pattern}")
# The end of a text that may become a marker, or markers within each other.
_NAMED = re.compile(r"\s*[\[(]Picture \d{1,2}[\])]")
_BEGUN = re.compile(r"\s*[\[(](?:P[a-z]{0,6}(?: \d{0,2})?)?")  # of the name of a picture
_UNSURE = re.compile(r"\s*(?:\[[\d\[\] a-z]{0,24})?\Z")


def insert_markers(pieces: Iterable[str], citer: Citer) -> Iterator[str]:
    """The answer with markers, in pieces that are never taken back.

    Markers that the model writes itself are left out: they are guesses. An answer that begins to
    repeat itself ends before the repetition.
    """
    pending, streamed = "", 0  # text not yet marked; how much of it was given out
    complete: set[str] = set()
    for piece in pieces:
        pending = pending[:streamed] + _without_markers(pending[streamed:] + piece)
        while (end := _first_end(pending)) is not None:
            sentence = pending[:end].strip()
            if sentence in complete:
                return
            complete.add(sentence)
            yield pending[streamed:end] + _mark(sentence, citer)
            pending, streamed = pending[max(end, streamed) :], 0
        sure = _sure(pending, streamed, complete)
        if sure > streamed:
            yield pending[streamed:sure]
            streamed = sure
    sentence = pending.strip()
    if sentence and sentence not in complete:
        yield pending.rstrip()[streamed:] + _mark(sentence, citer)


def _without_markers(text: str) -> str:
    """The text without what has their form, also where removing one makes another: "[1[2]]"."""
    while (shorter := _MARKER.sub("", text)) != text:
        text = shorter
    return text


def _first_end(pending: str) -> int | None:
    """Where the first sentence ends, or None while it may still go on.

    The name of a picture after its full stop belongs to it.
    """
    spans = sentences(pending, 0, len(pending))
    if len(spans) < 2:
        return None
    end = spans[0][1]
    if named := _NAMED.match(pending, end):
        return named.end() if named.end() < len(pending) else None
    return None if _BEGUN.fullmatch(pending, end) else end


def _sure(pending: str, streamed: int, complete: set[str]) -> int:
    """Up to where the unfinished sentence can be streamed."""
    begun = pending.strip()
    if not streamed and any(sentence.startswith(begun) for sentence in complete):
        return 0  # it may become a repetition
    unsure = _UNSURE.search(pending, streamed)
    return unsure.start() if unsure else len(pending)


def _mark(sentence: str, citer: Citer) -> str:
    """What follows a complete sentence: " [1]", " [unsupported]", both, or nothing."""
    if sentence == NOT_SAID:
        return ""
    citation = citer.cite(sentence)
    number = f" [{citation.marker}]" if citation else ""
    supported = citation and citation.support != "unsupported"
    return number if supported else f"{number} {UNSUPPORTED_MARK}"
