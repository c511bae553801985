"""A piece of evidence as lines of a prompt: where, when and by whom it was said, and its words.

The captions of figures beside it follow where its words do not have them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from generator.evidence import Span
from generator.prompt.pictures import missing_captions
from indexing.documents import Document, clock
from indexing.text.english import MONTHS

_TITLE_LENGTH = 80  # characters
_SPEAKER_LENGTH = 60


def latest_day(spans: Iterable[Span]) -> str:
    """The latest day of documents that are of several days, "2025-11-17"; else ""."""
    days = {span.document.occasion.day for span in spans} - {""}
    return max(days) if len(days) > 1 else ""


def evidence_block(number: int, span: Span, *, latest: str = "") -> str:
    """One piece of evidence: what it is, then its lines, each marked as quoted."""
    document = span.document
    utterance = document.utterance_at(span.start)
    title = " ".join(document.title.split())[:_TITLE_LENGTH]
    time = clock(utterance.time) if utterance else None
    where = [title, _day(document, latest), document.place_at(span.start) or "", time or ""]
    text = f"{_speaker(span)}{span.text.strip()}"
    captions = [f"(a figure) {one}" for one in missing_captions(span)]
    quoted = [line for line in (*text.splitlines(), *captions) if line.strip()]
    lines = "".join(f"> {line}\n" for line in quoted)
    return f"\nEvidence {number}: {', '.join(filter(None, where))}\n{lines}"


def _speaker(span: Span) -> str:
    """Who speaks, where the piece begins after the label that says so."""
    utterance = span.document.utterance_at(span.start)
    if utterance is None or span.start < utterance.text_start or not utterance.speaker:
        return ""
    return f"{' '.join(utterance.speaker.split())[:_SPEAKER_LENGTH]}: "


def _day(document: Document, latest: str) -> str:
    """When it is from: "a document of 17 November 2025", and whether that is the latest."""
    day = document.occasion.day
    try:
        when = date.fromisoformat(day)
        words = f"{when.day} {MONTHS[when.month - 1].capitalize()} {when.year}"
    except ValueError:  # of none, or a month or year alone
        words = day
    if not words:
        return ""
    return f"a document of {words}{' (the latest)' if day == latest else ''}"
