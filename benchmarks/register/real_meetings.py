"""The register of eighty real meetings against marks that readers made, half of them counted.

The meetings are those of QMSum's training split (Zhong et al., NAACL 2021), which the project does
not have: `qmsum_marks.jsonl` only says where the marks stand in them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.overview.commitments import CommitmentKind
from generator.register.entry import Entry
from generator.register.register import register
from indexing.documents import Document
from rag_app.batch.qmsum import meetings

_MARKS = Path(__file__).with_name("qmsum_marks.jsonl")


@dataclass(frozen=True, slots=True)
class RealMark:
    """A sentence that a reader would put into the minutes.

    Attributes:
        kind: Decision, action or question.
        start: First character in the document.
        end: One past the last.
        who: Who is to do it, as the meeting calls them; "" where nobody can tell.
        until: The words that say when; "" where there are none.
        again: Spans of utterances that say the same.
    """

    kind: CommitmentKind
    start: int
    end: int
    who: str
    until: str
    again: tuple[tuple[int, int], ...]

    def is_said_by(self, entry: Entry) -> bool:
        """Whether an entry is half of the marked sentence, or stands in an utterance like it."""
        quote = entry.quote
        shared = min(self.end, quote.end) - max(self.start, quote.start)
        half = min(self.end - self.start, quote.end - quote.start) / 2
        again = any(start <= quote.start < end for start, end in self.again)
        return self.kind == entry.kind and (shared >= half or again)


def figures_of(half: str, file: Path) -> Iterator[tuple[str, bool, str]]:
    """Precision and recall by kind, and of the actions found, who and until when.

    Args:
        half: "developing" or "counted".
        file: QMSum's training split, `train.jsonl`.
    """
    marked = {one["meeting"]: one for one in map(json.loads, _MARKS.read_text().splitlines())}
    for meeting in meetings(file):
        document = meeting.document
        known = marked.get(_digest(document))
        if known is None or known["half"] != half:
            continue
        marks = [_mark(document, one) for one in known["marks"]]
        entries = [entry for matter in register([document]) for entry in matter.entries]
        for entry in entries:
            right = any(one.is_said_by(entry) for one in marks)
            yield f"{entry.kind}s that are right (precision)", right, _line(entry)
        for mark in marks:
            found = next((entry for entry in entries if mark.is_said_by(entry)), None)
            said = " ".join(document.text[mark.start : mark.end].split())
            yield f"{mark.kind}s found (recall)", found is not None, said
            if found is not None and mark.kind == "action":
                yield "who is right", _same(found.who, mark.who), f"{found.who}, {mark.who}: {said}"
                until = f"{found.until}, {mark.until}: {said}"
                yield "until when is right", _same(found.until, mark.until), until


def _digest(document: Document) -> str:
    said = "\n".join(document.text[one.text_start : one.end] for one in document.utterances)
    return hashlib.sha256(said.encode("utf-8")).hexdigest()[:16]


def _mark(document: Document, values: Mapping[str, Any]) -> RealMark:
    spans = [(one.text_start, one.end) for one in document.utterances]
    at, _ = spans[values["utterance"]]
    until = values.get("until", "")  # as a span of the utterance, or in another one's words
    if isinstance(until, list):
        until = document.text[at + until[0] : at + until[1]]
    return RealMark(
        kind=values["kind"],
        start=at + values["start"],
        end=at + values["end"],
        who=values.get("who", ""),
        until=until,
        again=tuple(spans[number] for number in values.get("also", ())),
    )


def _same(one: str, other: str) -> bool:
    """Whether two names, or two times, are the same or one is a part of the other."""
    one, other = one.casefold(), other.casefold()
    return bool(one) == bool(other) and (one in other or other in one)


def _line(entry: Entry) -> str:
    return f"{entry.kind} {entry.who}: {' '.join(entry.quote.text.split())}"
