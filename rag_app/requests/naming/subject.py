"""What is left of a question without the documents that it names: what is searched for in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_app.requests.naming.catalogue import Mention

_PLACE = re.compile(
    r",?\s*(?:\b(?:in|within|inside|from|at|during|of|per|between|according to|as per)\s+)"
    r"(?:(?:the|this|that|our|my|your|both|whole|entire)\s+)*"
    r"(?:(?:documents?|files?|meetings?|transcripts?|recordings?|reports?)\s+)?"
    r"(?:(?:called|named|titled)\s+)?[\"'“]?$",
    re.IGNORECASE,
)
_JOINS = re.compile(
    r"[\"'”]?\s*(?:,|and|or|&|,\s*and)\s*(?:(?:in|from|the)\s+)*[\"'“]?", re.IGNORECASE
)
_DOES = re.compile(r"\b(?:does|did|do)\s+(?:(?:the|this|our|my|your)\s+)?[\"'“]?$", re.IGNORECASE)
_SAY = re.compile(r"[\"'”]?\s+(?:say|mention|state)\s+about\b", re.IGNORECASE)


def subject_of(question: str, named: Sequence[Mention]) -> str:
    """A question without the documents that it names; itself where little is left of it."""
    subject = question
    for first, last in reversed(_rows(question, named)):
        before, after = subject[:first], subject[last:].removeprefix('"').removeprefix("”")
        if place := _PLACE.search(before):
            subject = f"{before[: place.start()]} {after}"
        elif (does := _DOES.search(before)) and (say := _SAY.match(after)):
            subject = f"{before[: does.start()]}is said about{after[say.end() :]}"
    subject = tidy(subject)
    return subject if len(subject.split()) > 2 else question


def tidy(text: str) -> str:
    """Words of a question of which some were taken out."""
    return re.sub(r"\s+([?!.,])", r"\1", " ".join(text.split())).lstrip(" ,;:")


def _rows(question: str, named: Sequence[Mention]) -> list[tuple[int, int]]:
    """Spans of names; those with only an "and" between them are one span."""
    rows: list[tuple[int, int]] = []
    for each in named:
        if rows and _JOINS.fullmatch(question[rows[-1][1] : each.start]):
            rows[-1] = rows[-1][0], each.end
        else:
            rows.append((each.start, each.end))
    return rows
