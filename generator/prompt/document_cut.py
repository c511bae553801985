"""A document that is longer than its budget, cut at sentences, with what was shown of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from generator.answer import ContextEntry
from generator.evidence import Evidence, Span
from indexing.documents import Document
from indexing.text.sentences import sentences

Fits = Callable[[Span], bool]
"""Whether a part of a document fits into the room that is left."""


def best_passage(evidence: Evidence, document: Document) -> Span | None:
    """The best passage of a document, or None."""
    own = (span for span in evidence.passages if span.document.id == document.id)
    return next(own, None)


def cut_document(span: Span, best: Span | None, fits: Fits, most: int) -> Span | None:
    """The longest run of whole sentences that fits: the beginning, or what lies around a passage.

    The best passage must be in; the beginning is taken where it holds that one. No run has more
    than `most` characters. None where not even a sentence fits.
    """
    beginning = _longest(span, span.start, fits, most)
    if best is None or (beginning and best.end <= beginning.end):
        return beginning
    length = beginning.end - beginning.start if beginning else best.end - best.start
    around = max(span.start, best.start - max(0, length - (best.end - best.start)) // 2)
    part = _longest(span, around, fits, most)
    if part is None or part.start > best.start or part.end < min(best.end, span.end):
        part = _longest(span, best.start, fits, most) or part
    return part or beginning


def _longest(span: Span, start: int, fits: Fits, most: int) -> Span | None:
    """The longest run of sentences from the first one that begins at or after a place."""
    text, end = span.document.text, min(span.end, start + most)
    first = _sentence_start(span, start)
    bounds = list(sentences(text, first, end))
    if end < span.end and len(bounds) > 1:
        bounds.pop()  # its end is not in sight
    whole = replace(span, start=bounds[0][0]) if bounds else span
    return longest_part(whole, [end for _, end in bounds], fits)


def longest_part(span: Span, ends: Sequence[int], fits: Fits) -> Span | None:
    """The longest part of a span, from its beginning to one of these ends, that fits, or None."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        longer = fits(replace(span, end=ends[middle - 1]))
        low, high = (middle, high) if longer else (low, middle - 1)
    return replace(span, end=ends[low - 1]) if low else None


def word_ends(span: Span, most: int | None = None) -> list[int]:
    """Where the words of a span end, of so many characters of it at most."""
    return [span.start + word.end() for word in re.finditer(r"\S+", span.text[:most])]


def _sentence_start(span: Span, at: int) -> int:
    """Where the sentence at a place begins, or the utterance it is the first of, label included."""
    utterance = span.document.utterance_at(at)
    if utterance is not None and utterance.start >= span.start:
        return utterance.start
    line = span.document.text.rfind("\n", span.start, at) + 1
    line = max(line, span.start)
    starts = [start for start, _ in sentences(span.document.text, line, min(span.end, at + 1000))]
    return max((start for start in starts if start <= at), default=line)


def describe_parts(context: Sequence[ContextEntry]) -> str:
    """How many documents are shown whole, which one is cut, and how many are left out."""
    documents = [entry for entry in context if entry.document]
    whole = sum(not entry.dropped for entry in documents)
    left_out = sum(not entry.kept for entry in documents)
    parts = [f"{whole} whole"]
    parts += [
        f"{entry.title} cut at a sentence ({entry.kept:,} of {entry.tokens:,} tokens)"
        for entry in documents
        if entry.kept and entry.dropped
    ]
    parts += [f"{left_out} left out, as there is no room"] if left_out else []
    return f"documents: {', '.join(parts)}"
