"""A free answer as it streams, each sentence followed by its marker as soon as it is complete."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from generator.answer import NOT_SAID, UNSUPPORTED_MARK
from generator.attribution.citer import Citer
from indexing.text.sentences import sentences

_MARKER = re.compile(r" ?\[\d{1,3}\]")
_UNSURE = re.compile(r"\s*(?:\[\d{0,3})?\Z")  # the end of a text that may become a marker


def marked(pieces: Iterable[str], citer: Citer) -> Iterator[str]:
    """The answer with markers, in pieces that are never taken back.

    Markers that the model writes itself are left out: they are guesses. An answer that begins to
    repeat itself ends before the repetition.

    Args:
        pieces: What the model writes, as it comes.
        citer: Finds and keeps the quotes.
    """
    pending, shown, said = "", 0, set[str]()  # text not yet marked; how much of it is shown
    for piece in pieces:
        pending = pending[:shown] + _MARKER.sub("", pending[shown:] + piece)
        while (end := _first_end(pending)) is not None:
            sentence = pending[:end].strip()
            if sentence in said:
                return
            said.add(sentence)
            yield pending[shown:end] + _mark(sentence, citer)
            pending, shown = pending[max(end, shown) :], 0
        sure = _sure(pending, shown, said)
        if sure > shown:
            yield pending[shown:sure]
            shown = sure
    sentence = pending.strip()
    if sentence and sentence not in said:
        yield pending.rstrip()[shown:] + _mark(sentence, citer)


def _first_end(pending: str) -> int | None:
    """Where the first sentence ends, or None while it may still go on."""
    spans = sentences(pending, 0, len(pending))
    return spans[0][1] if len(spans) > 1 else None


def _sure(pending: str, shown: int, said: set[str]) -> int:
    """Up to where the unfinished sentence can be shown."""
    begun = pending.strip()
    if not shown and any(sentence.startswith(begun) for sentence in said):
        return 0  # it may become a repetition
    unsure = _UNSURE.search(pending, shown)
    return unsure.start() if unsure else len(pending)


def _mark(sentence: str, citer: Citer) -> str:
    """What follows a complete sentence: " [1]", " [unsupported]", both, or nothing."""
    if sentence == NOT_SAID:
        return ""
    citation = citer.cite(sentence)
    number = f" [{citation.marker}]" if citation else ""
    return number if citation and citation.verified else f"{number} {UNSUPPORTED_MARK}"
