"""The shared types: documents, utterances, passages and hits. All frozen.

Every `start` and `end` in this project counts characters of `Document.text` (Python string
indexes, end exclusive), so that `document.text[start:end]` is the thing itself.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexing.page_names import page_place, pages_read, read_by_ocr

NEAR = 600  # characters between a figure and a quote that are shown together, without pages


@dataclass(frozen=True, slots=True)
class Utterance:
    """One uninterrupted utterance of a transcript."""

    start: int  # first character, the speaker's label included
    end: int  # one past the last character
    text_start: int  # first character of the words themselves, past label and time stamp
    # who speaks: as the file spells it, or the name that somebody gave that label
    speaker: str | None = None
    time: float | None = None  # seconds from the start of the recording
    renamed_from: str | None = None  # the label in the file, where the speaker has another name now

    @property
    def label(self) -> str | None:
        """Who speaks, as the file spells it."""
        return self.speaker if self.renamed_from is None else self.renamed_from

    def is_of(self, name: str) -> bool:
        """Whether the speaker's name holds these words, in any case."""
        return is_named(self.speaker or "", name)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a paged document, or what stands for it: a slide, a row of a sheet, a chapter."""

    start: int  # first character
    end: int  # one past the last character
    number: int  # counts from 1 as viewers do, and is another one for each page of a document
    name: str = ""  # what people call it, such as "slide 4" or "Budget, row 12"; "" for "page 4"
    # from 0 to 1, where its text was recognised in a picture; None where the file holds the text
    # itself
    confidence: float | None = None

    @property
    def place(self) -> str:
        """Its name, or "page 4"; and how surely it was read, where OCR has read it."""
        return page_place(self.name or f"page {self.number}", self.confidence)

    @property
    def recognised(self) -> str:
        """How surely OCR has read it, for people; "" where the file holds the text itself."""
        return "" if self.confidence is None else read_by_ocr(self.confidence)

    @property
    def values(self) -> list[int | str | float]:
        """The page as it is stored: without what it does not have."""
        values: list[int | str | float] = [self.start, self.end, self.number]
        if self.name or self.confidence is not None:
            values.append(self.name)
        if self.confidence is not None:
            values.append(self.confidence)
        return values


@dataclass(frozen=True, slots=True)
class Occasion:
    """When a meeting took place, or a mail was sent, and among whom; as far as the file says so.

    Attributes:
        date: In ISO 8601, a day ("2026-03-14") or a moment ("2026-03-14T09:30:00+01:00"); "" for an
            unknown one. Never the time at which the file was changed.
        date_source: Where the file says so, in plain words such as "file name"; "" without a date.
        participants: People who took part by what the file says of itself (a list of those present,
            the sender and the recipients of a mail). Who speaks in it need not be among them.
        participants_source: Where the file says so; "" without participants.
    """

    date: str = ""
    date_source: str = ""
    participants: tuple[str, ...] = ()
    participants_source: str = ""

    def __bool__(self) -> bool:
        return bool(self.date or self.participants)

    @property
    def day(self) -> str:
        """The day of the date, as it was where it took place; "" for an unknown one."""
        return self.date[:10]


NO_OCCASION = Occasion()
"""That of a document which says nothing of the kind."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture in a document: a chart, a photograph, a drawing; no logo and no rule."""

    start: int  # the character of the text beside which it stands
    width: int  # in pixels
    height: int  # in pixels
    media_type: str  # "image/png" or "image/jpeg"
    caption: str = ""  # what the document says below or above it; "" for nothing
    page: int | None = None  # number of the page on which it stands; None where the format has none
    key: str = ""  # SHA-256 of the data, in hexadecimal
    # the picture; empty where the document was read from a corpus
    data: bytes = field(default=b"", repr=False, compare=False)

    @property
    def label(self) -> str:
        """What it is called in a line: its caption, or its size."""
        return self.caption or f"figure of {self.width} by {self.height} pixels"

    @property
    def fields(self) -> dict[str, int | str | None]:
        """Everything but the data, by name."""
        names = ("start", "width", "height", "media_type", "caption", "page", "key")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Extract:
    """What a loader reads out of a file, before it is known to a corpus."""

    text: str  # the whole text, newlines as "\n", no NUL
    title: str  # a name a person would recognise
    # which document of the file this is, unique within it; "" when a file is one document
    part: str = ""
    # utterances in order, without overlaps; empty unless the file is a transcript
    utterances: tuple[Utterance, ...] = ()
    pages: tuple[Page, ...] = ()  # pages in order; empty unless the format has pages
    # offsets that a passage prefers to start at (headings, paragraphs), ascending
    breaks: tuple[int, ...] = ()
    occasion: Occasion = NO_OCCASION  # date and participants, where the file holds them
    format: str = ""  # the format's name, where the file's ending stands for several; else ""
    figures: tuple[Figure, ...] = ()  # pictures, in the order of the text


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
        occasion: Date and participants, and where they are from.
        figures: Pictures, in the order of the text.
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
    occasion: Occasion = NO_OCCASION
    figures: tuple[Figure, ...] = ()

    @property
    def speakers(self) -> tuple[str, ...]:
        """Everybody who speaks, in the order of their first words."""
        return tuple(dict.fromkeys(one.speaker for one in self.utterances if one.speaker))

    @property
    def speaker_names(self) -> dict[str, str]:
        """The names of renamed speakers, by the label that the file has."""
        return {
            one.renamed_from: one.speaker
            for one in self.utterances
            if one.renamed_from is not None and one.speaker is not None
        }

    @property
    def recognised(self) -> str:
        """How much of it OCR has read, and how surely, for people; "" for nothing."""
        read = [one.confidence for one in self.pages if one.confidence is not None]
        if not read:
            return ""
        return pages_read(len(read), len(self.pages), sum(read) / len(read))

    def figures_near(self, start: int, end: int) -> tuple[Figure, ...]:
        """The figures that stand beside a span, or on its pages."""
        first, last = self.page_at(start), self.page_at(max(end - 1, start))
        pages = () if first is None or last is None else range(first, last + 1)
        return near(self.figures, start, end, pages)

    def utterance_at(self, offset: int) -> Utterance | None:
        """The utterance that holds a character, or None outside of any."""
        at = bisect_right(self.utterances, offset, key=lambda utterance: utterance.start) - 1
        return self.utterances[at] if at >= 0 and offset < self.utterances[at].end else None

    def utterances_within(self, start: int, end: int) -> tuple[Utterance, ...]:
        """The utterances that share characters with a span, in order."""
        first = bisect_right(self.utterances, start, key=lambda utterance: utterance.end)
        last = bisect_left(self.utterances, end, key=lambda utterance: utterance.start)
        return self.utterances[first:last]

    def spoken_by(self, name: str, start: int, end: int) -> tuple[Utterance, ...]:
        """The utterances within a span by those whose names hold these words, cut to the span."""
        return tuple(
            replace(one, start=a, end=b, text_start=min(max(one.text_start, start), end))
            for one in self.utterances_within(start, end)
            for a, b in [(max(one.start, start), min(one.end, end))]
            if one.is_of(name) and max(one.text_start, start) < b
        )

    def page_at(self, offset: int) -> int | None:
        """The page number of a character, or None where the format has no pages."""
        page = self._page_of(offset)
        return page.number if page else None

    def place_at(self, offset: int) -> str | None:
        """What the page of a character is called ("page 4", "slide 4"), None as in `page_at`."""
        page = self._page_of(offset)
        return page.place if page else None

    def _page_of(self, offset: int) -> Page | None:
        at = bisect_right(self.pages, offset, key=lambda page: page.start) - 1
        return self.pages[at] if at >= 0 else None


def is_named(speaker: str, name: str) -> bool:
    """Whether a speaker's name holds these words, or any of those that "|" parts, in any case."""
    parts = list(filter(None, name.split("|"))) or [name]
    return any(one.casefold() in speaker.casefold() for one in parts)


def renamed(utterances: Iterable[Utterance], names: Mapping[str, str]) -> tuple[Utterance, ...]:
    """Utterances with the speakers' names by label; where there is none, the label is the name."""
    return tuple(
        replace(
            one,
            speaker=one.label if (name := names.get(one.label or "")) is None else name,
            renamed_from=None if name is None or name == one.label else one.label,
        )
        for one in utterances
    )


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a document, 100 to 200 words where the text allows: the unit of evidence."""

    start: int  # first character
    end: int  # one past the last character
    speakers: tuple[str, ...] = ()  # everyone who speaks in it, most words first
    time: float | None = None  # seconds at which its first timed utterance starts
    page: int | None = None  # page of its first character


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage that answers a query, best first within its document.

    `parts` says what each feature of the ranking gave to `score`, `place` what its page is called,
    `figures` the captions of the figures beside it. Of a search for what somebody says,
    `utterances` are that, cut to the passage, `time` is that of the first, and `speakers` begins
    with them; the rest of `text` is said by others.
    """

    start: int
    end: int
    text: str
    score: float
    speakers: tuple[str, ...] = ()
    time: float | None = None
    page: int | None = None
    place: str | None = None
    figures: tuple[str, ...] = ()
    parts: dict[str, float] = field(default_factory=dict)
    utterances: tuple[Utterance, ...] = ()

    @property
    def speaker(self) -> str | None:
        """Whoever says most of the passage, or whose words were asked for."""
        return self.speakers[0] if self.speakers else None

    def words(self, utterance: Utterance) -> str:
        """What one of `utterances` says."""
        return self.text[utterance.text_start - self.start : utterance.end - self.start]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that answers a query, with its best passages.

    `parts` says what each feature of the ranking gave to `score`; `day` is that of its date.
    """

    document: str
    title: str
    path: str
    part: str
    score: float
    passages: tuple[PassageHit, ...]
    parts: dict[str, float] = field(default_factory=dict)
    day: str = ""


def near(
    figures: Iterable[Figure], start: int, end: int, pages: Collection[int | None]
) -> tuple[Figure, ...]:
    """The figures on some pages, and of those without pages the ones beside a span."""
    beside = range(start - NEAR, end + NEAR + 1)
    return tuple(
        one for one in figures if (one.start in beside if one.page is None else one.page in pages)
    )


def content_digest(
    text: str, utterances: Sequence[Utterance], pages: Sequence[Page], *, title: str | None = None
) -> str:
    """SHA-256 of text, utterances and pages as canonical JSON, in hexadecimal.

    Not of the title, which is often the file's name: a renamed file is the same document, and so is
    one whose speakers have other names now. Only databases of the first format have digests with
    the title in them.
    """
    spoken = [[one.start, one.end, one.text_start, one.label, one.time] for one in utterances]
    titles = [] if title is None else [title]
    whole = [text, *titles, spoken, [replace(page, confidence=None).values for page in pages]]
    canonical = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def clock(seconds: float | None) -> str | None:
    """A time stamp as people write it: 3725.4 becomes "01:02:05"; None stays None."""
    if seconds is None:
        return None
    whole = int(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
