"""The shared words: what a document, an utterance, a passage and a hit are. All frozen.

Every `start` and `end` in this project counts characters of `Document.text` (Python string
indexes, end exclusive), so that `document.text[start:end]` is the thing itself.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Utterance:
    """One uninterrupted utterance of a transcript.

    Attributes:
        start: First character, the speaker's label included.
        end: One past the last character.
        text_start: First character of the words themselves, past label and time stamp.
        speaker: Who speaks, as the file spells it.
        time: Seconds from the start of the recording.
    """

    start: int
    end: int
    text_start: int
    speaker: str | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paged document; `number` counts from 1 as viewers do."""

    start: int
    end: int
    number: int


@dataclass(frozen=True, slots=True)
class Extract:
    r"""What a loader reads out of a file, before it is known to a corpus.

    Attributes:
        text: The whole text, newlines as "\n", no NUL.
        title: A name a person would recognise.
        part: Which document of the file this is, unique within it; "" when a file is one document.
        utterances: Utterances in order, without overlaps; empty unless the file is a transcript.
        pages: Pages in order; empty unless the format has pages.
        breaks: Offsets that a passage prefers to start at (headings, paragraphs), ascending.
    """

    text: str
    title: str
    part: str = ""
    utterances: tuple[Utterance, ...] = ()
    pages: tuple[Page, ...] = ()
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its identity.

    Attributes:
        id: Stable name, 12 hexadecimal digits, of the path and part it first came from.
        path: Absolute path of the file, or the name given to text that never was a file.
        part: Which document of the file; "" when a file is one document.
        title: A name a person would recognise.
        format: The loader's name, such as "pdf" or "qmsum".
        digest: SHA-256 of text, utterances and pages: what decides "changed?".
        text: The whole extracted text.
        utterances: Utterances in order.
        pages: Pages in order.
        breaks: Offsets that a passage prefers to start at.
        metadata: JSON that whoever handed it in keeps with it; "" for none.
    """

    id: str
    path: str
    part: str
    title: str
    format: str
    digest: str
    text: str
    utterances: tuple[Utterance, ...] = ()
    pages: tuple[Page, ...] = ()
    breaks: tuple[int, ...] = ()
    metadata: str = ""

    def utterance_at(self, offset: int) -> Utterance | None:
        """The utterance that holds a character, or None outside of any."""
        at = bisect_right(self.utterances, offset, key=lambda utterance: utterance.start) - 1
        return self.utterances[at] if at >= 0 and offset < self.utterances[at].end else None

    def utterances_within(self, start: int, end: int) -> tuple[Utterance, ...]:
        """The utterances that share characters with a span, in order."""
        first = bisect_right(self.utterances, start, key=lambda utterance: utterance.end)
        last = bisect_left(self.utterances, end, key=lambda utterance: utterance.start)
        return self.utterances[first:last]

    def page_at(self, offset: int) -> int | None:
        """The page number of a character, or None where the format has no pages."""
        at = bisect_right(self.pages, offset, key=lambda page: page.start) - 1
        return self.pages[at].number if at >= 0 else None


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document, 100 to 200 words where the text allows: the unit of evidence.

    Attributes:
        start: First character.
        end: One past the last character.
        speakers: Everyone who speaks in it, most words first.
        time: Seconds at which its first timed utterance starts.
        page: Page of its first character.
    """

    start: int
    end: int
    speakers: tuple[str, ...] = ()
    time: float | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that answers a query, best first within its document.

    `parts` says what each feature of the ranking gave to `score`.
    """

    start: int
    end: int
    text: str
    score: float
    speakers: tuple[str, ...] = ()
    time: float | None = None
    page: int | None = None
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def speaker(self) -> str | None:
        """Whoever says most of the passage."""
        return self.speakers[0] if self.speakers else None


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that answers a query, with its best passages.

    `parts` says what each feature of the ranking gave to `score`.
    """

    document: str
    title: str
    path: str
    part: str
    score: float
    passages: tuple[PassageHit, ...]
    parts: dict[str, float] = field(default_factory=dict)


def content_digest(
    text: str,
    utterances: Sequence[Utterance],
    pages: Sequence[Page],
    *,
    title: str | None = None,
) -> str:
    """SHA-256 of text, utterances and pages as canonical JSON, in hexadecimal.

    Not of the title, which is often the file's name: a renamed file is the same document. Only
    databases of the first format have digests with the title in them.
    """
    spoken = [[one.start, one.end, one.text_start, one.speaker, one.time] for one in utterances]
    titles = [] if title is None else [title]
    whole = [text, *titles, spoken, [[page.start, page.end, page.number] for page in pages]]
    canonical = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def clock(seconds: float | None) -> str | None:
    """A time stamp as people write it: 3725.4 becomes "01:02:05"; None stays None."""
    if seconds is None:
        return None
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
