"""The context ledger: how many tokens of each document a model was shown, and how many it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from generator.answer import ContextEntry
from generator.evidence import Span
from generator.prompt.arrangement import merge_spans
from indexing.documents import Document

_COUNTED_WHOLE = 2_000_000  # characters; longer documents are counted by a sample of this many
_UNIT = re.compile(r"\w+|[^\w\s]")

Count = Callable[[str], int]
"""A text to the number of its tokens."""


def ledger(whole: Sequence[Span], shown: Sequence[Span], count: Count) -> tuple[ContextEntry, ...]:
    """What was kept and dropped of each document, in the order of `whole`."""
    entries = []
    for span in whole:
        parts = merge_spans(part for part in shown if part.document.id == span.document.id)
        tokens = count_document(span.document, count)
        complete = bool(parts) and (parts[0].start, parts[0].end) == (span.start, span.end)
        read = tokens if complete else min(tokens, sum(count(part.text) for part in parts))
        entries.append(
            ContextEntry(span.document.id, span.document.title, tokens, read, tokens - read)
        )
    return tuple(entries)


def count_document(document: Document, count: Count) -> int:
    """Tokens of a document; from a sample for texts of more than two million characters."""
    length = len(document.text)
    if length <= _COUNTED_WHOLE:
        return count(document.text)
    return count(document.text[:_COUNTED_WHOLE]) * length // _COUNTED_WHOLE


def count_words(text: str) -> int:
    """Words and punctuation marks: the ledger's unit where no model reads the evidence."""
    return len(_UNIT.findall(text))
