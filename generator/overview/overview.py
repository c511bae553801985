"""The overview of a document: speakers, topics, decisions and actions, all quoted from it.

Every sentence is a quote with its place: `document.text[quote.start:quote.end] == quote.text`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from generator.evidence import Sentence, Vectors
from generator.overview.blocks import Block, blocks
from generator.overview.commitments import commitments
from generator.overview.keywords import keywords, stem_counts, stem_weights
from generator.overview.people import people_of
from generator.overview.segmentation import segment
from generator.overview.telling_sentence import telling_sentence
from indexing.documents import NO_OCCASION, Document, Occasion, Passage, clock
from indexing.text.chunking import count_words
from indexing.text.disfluency import without_noise


@dataclass(frozen=True, slots=True)
class SpeakerShare:
    """A speaker's part in a document.

    Attributes:
        name: As the file spells it.
        words: How many words they say.
        share: Of the words that anyone says, 0 to 1.
        utterances: How often they speak.
    """

    name: str
    words: int
    share: float
    utterances: int


def speaker_shares(blocks: Sequence[Block]) -> tuple[SpeakerShare, ...]:
    """Everyone who speaks, most words first; ties in the order in which they first speak."""
    words: Counter[str] = Counter()
    utterances: Counter[str] = Counter()
    for block in blocks:
        if block.speaker is not None:
            words[block.speaker] += block.words
            utterances[block.speaker] += 1
    total = words.total() or 1
    return tuple(
        SpeakerShare(name, count, count / total, utterances[name])
        for name, count in words.most_common()
    )


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the document, with its place.

    Attributes:
        start: First character.
        end: One past the last.
        text: The sentence.
        speaker: Who says it.
        time: Seconds from the start of the recording.
        page: Page of its first character.
        place: What that page is called.
    """

    start: int
    end: int
    text: str
    speaker: str | None = None
    time: float | None = None
    page: int | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A part of the document about one thing.

    Attributes:
        start: First character.
        end: One past the last.
        words: How many words it has.
        keywords: Words that it has more often than the rest, best first.
        quote: Its most telling sentence.
        time: Seconds from the start of the recording to its own.
        page: Page on which it begins.
        place: What that page is called.
    """

    start: int
    end: int
    words: int
    keywords: tuple[str, ...]
    quote: Quote
    time: float | None = None
    page: int | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """Something that somebody is to do.

    Attributes:
        quote: The sentence that says so.
        who: Who is to do it: its speaker, or whom it names; None where it does not tell.
        when: The words of it that say when; None where it does not tell.
    """

    quote: Quote
    who: str | None = None
    when: str | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """What a document is about, in its own words.

    Attributes:
        document: Its id.
        title: Its name.
        path: Its file.
        part: Which document of the file; "" when a file is one document.
        words: How many words it has.
        seconds: From the start of the recording to its last time stamp; None without time stamps.
        pages: How many pages it has; None where the format has no pages.
        speakers: Who speaks, most words first; empty unless it is a transcript.
        topics: In order; they cover the document.
        decisions: What is said to be decided, in order.
        actions: What somebody is to do, in order.
        occasion: Date and participants, and where the file says so.
    """

    document: str
    title: str
    path: str
    part: str
    words: int
    seconds: float | None = None
    pages: int | None = None
    speakers: tuple[SpeakerShare, ...] = ()
    topics: tuple[Topic, ...] = ()
    decisions: tuple[Quote, ...] = ()
    actions: tuple[Action, ...] = ()
    occasion: Occasion = NO_OCCASION


def overview(document: Document, passages: Sequence[Passage], vectors: Vectors) -> Overview:
    """The overview of a document."""
    every = blocks(document)
    said = commitments(every, people_of(document))
    times = [each.time for each in document.utterances if each.time is not None]
    whole = stem_counts(every)
    parts = segment(every, passages, vectors) if every else []
    return Overview(
        document=document.id,
        title=document.title,
        path=document.path,
        part=document.part,
        words=count_words(document.text),
        seconds=max(times, default=None),
        pages=sum(not page.name for page in document.pages) or None,
        speakers=speaker_shares(every),
        topics=tuple(_topic(document, part, stem_weights(part, whole)) for part in parts),
        decisions=tuple(quote_of(one.sentence) for one in said if one.kind == "decision"),
        actions=tuple(
            Action(quote_of(one.sentence), one.who, one.when)
            for one in said
            if one.kind == "action"
        ),
        occasion=document.occasion,
    )


def as_json(about: Overview) -> dict[str, Any]:
    """The overview as plain values; times as "HH:MM:SS"."""
    return {
        **asdict(about),
        "topics": [
            {**asdict(each), "time": clock(each.time), "quote": _quote_json(each.quote)}
            for each in about.topics
        ],
        "decisions": [_quote_json(each) for each in about.decisions],
        "actions": [{**asdict(each), "quote": _quote_json(each.quote)} for each in about.actions],
    }


def _quote_json(quote: Quote) -> dict[str, Any]:
    return {**asdict(quote), "time": clock(quote.time), "shown": without_noise(quote.text)}


def _topic(document: Document, part: Sequence[Block], weights: dict[str, float]) -> Topic:
    start = part[0].start
    first = document.utterances_within(start, part[-1].end)
    return Topic(
        start=start,
        end=part[-1].end,
        words=sum(block.words for block in part),
        keywords=keywords(part, weights),
        quote=quote_of(telling_sentence(part, weights).sentence),
        time=next((each.time for each in first if each.time is not None), None),
        page=document.page_at(start),
        place=document.place_at(start),
    )


def quote_of(sentence: Sentence) -> Quote:
    """A sentence of a document as a quote."""
    document = sentence.document
    return Quote(
        sentence.start,
        sentence.end,
        sentence.text,
        speaker=sentence.speaker,
        time=sentence.time,
        page=document.page_at(sentence.start),
        place=document.place_at(sentence.start),
    )
