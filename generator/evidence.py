"""Hits -> the spans and sentences that an answer may rest on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from generator.answer import Citation
from indexing.documents import Document, Hit
from indexing.text.aliases import NO_ALIASES, Aliases
from indexing.text.language import language_of
from indexing.text.sentences import sentences
from indexing.text.tables import Columns, is_row, labelled, table_columns

Vectors = NDArray[np.float32]
"""Shape (n, d), each row of length 1."""

Embed = Callable[[list[str]], Vectors]
"""Texts to their vectors, in order."""

Lookup = Callable[[str], Document]
"""A document by its id."""

LABEL_GAP = 120
"""Characters between neighbouring sentences, a speaker's label or a heading among them."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one document, with the retriever's score for it."""

    document: Document
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """The stretch itself."""
        return self.document.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of evidence; in transcripts always of one utterance, label left out."""

    document: Document  # where it stands
    start: int  # first character
    end: int  # one past the last
    score: float  # the retriever's score for the span around it
    utterance: int | None = None  # start of its utterance, or None outside of any
    speaker: str | None = None  # who says it
    time: float | None = None  # seconds from the start of the recording
    columns: tuple[str, ...] = ()  # of its table, where the row does not say them
    aliases: Aliases = NO_ALIASES  # other spellings in it, to be read as their names

    @property
    def text(self) -> str:
        """The sentence itself."""
        return self.document.text[self.start : self.end]

    @property
    def read(self) -> str:
        """What is read and compared: the sentence, of a row with the names of its columns."""
        return self._read[0]

    @property
    def _read(self) -> tuple[str, Sequence[int]]:
        """What is read, and of each of its characters which one of the text it is."""
        if self.columns:
            return labelled(self.text, self.columns)
        return (
            self.aliases.renamed(self.text) if self.aliases else (self.text, range(len(self.text)))
        )

    def places(self, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Where spans of `read` stand in the document; a column's name, where its cell begins."""
        if not self.columns and not self.aliases:
            return [(self.start + first, self.start + last) for first, last in spans]
        origins = self._read[1]
        return [
            (self.start + origins[first], self.start + origins[last - 1] + 1)
            for first, last in spans
        ]

    def cited(self, *, end: int | None = None, marker: int = 0) -> Citation:
        """The citation of its document from here to its end, or a later one; nothing verified."""
        document, last = self.document, self.end if end is None else end
        return Citation(
            marker=marker,
            document=document.id,
            path=document.path,
            title=document.title,
            part=document.part,
            start=self.start,
            end=last,
            quote=document.text[self.start : last],
            speaker=self.speaker,
            time=self.time,
            page=document.page_at(self.start),
            place=document.place_at(self.start),
            figures=tuple(one.label for one in document.figures_near(self.start, last)),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the retriever found."""

    passages: tuple[Span, ...]  # best first
    whole: tuple[Span, ...]  # each document from end to end, in the order of the hits
    speaker: str | None = None  # part of the name of the only person whose words count

    def best(self, most: int | None = None) -> tuple[Span, ...]:
        """The best passages; of a speaker, only what they say in them."""
        passages = self.passages[:most]
        if self.speaker is None:
            return passages
        return tuple(
            replace(span, start=said.start, end=said.end)
            for span in passages
            for said in span.document.spoken_by(self.speaker, span.start, span.end)
        )


def gather_evidence(hits: Sequence[Hit], lookup: Lookup, *, speaker: str | None = None) -> Evidence:
    """The hits' passages and documents; of equal scores the better document's passage first."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.document, hit)
    documents = {name: lookup(name) for name in first}
    passages = [
        Span(document, max(0, passage.start), min(passage.end, len(document.text)), passage.score)
        for hit in hits
        for document in [documents[hit.document]]
        for passage in hit.passages
        if passage.start < min(passage.end, len(document.text))
    ]
    passages.sort(key=lambda span: -span.score)
    whole = [
        Span(document, 0, len(document.text), first[name].score)
        for name, document in documents.items()
    ]
    return Evidence(tuple(passages), tuple(whole), speaker)


def evidence_sentences(spans: Iterable[Span], aliases: Aliases = NO_ALIASES) -> list[Sentence]:
    """Every sentence of the spans once, span by span, each in reading order."""
    by_place: dict[tuple[str, int, int], Sentence] = {}
    for span in spans:
        document = span.document
        language = language_of(document.text)
        for start, end, utterance_start in _utterances(span):
            for first, last in sentences(document.text, start, end, language):
                sentence = _sentence(span, first, last, utterance_start)
                if aliases and aliases.spelled([sentence.text]):
                    sentence = replace(sentence, aliases=aliases)
                if is_row(sentence.text):
                    sentence = _with_columns(sentence, table_columns(document.text))
                by_place.setdefault((document.id, first, last), sentence)
    return list(by_place.values())


def reading_order(sentences: Sequence[Sentence]) -> list[int]:
    """Indexes of sentences, document by document, as they stand there."""
    return sorted(
        range(len(sentences)), key=lambda i: (sentences[i].document.id, sentences[i].start)
    )


def stand_together(before: Sentence, after: Sentence, *, gap: int = LABEL_GAP) -> bool:
    """Whether at most so many characters stand between two sentences in reading order."""
    return before.document.id == after.document.id and after.start - before.end <= gap


def _with_columns(row: Sentence, tables: Sequence[Columns]) -> Sentence:
    """A row with the names of the columns of the table that it is in."""
    at = bisect_right(tables, row.start, key=lambda table: table.below) - 1
    within = at >= 0 and row.start < tables[at].end
    return replace(row, columns=tables[at].names) if within else row


def _sentence(span: Span, first: int, last: int, start: int | None) -> Sentence:
    utterance = span.document.utterance_at(first) if start is not None else None
    return Sentence(
        document=span.document,
        start=first,
        end=last,
        score=span.score,
        utterance=start,
        speaker=utterance.speaker if utterance else None,
        time=utterance.time if utterance else None,
    )


def _utterances(span: Span) -> Iterator[tuple[int, int, int | None]]:
    """The span cut where utterances end, labels left out: (start, end, start of utterance)."""
    at = span.start
    while at < span.end:
        utterance = span.document.utterance_at(at)
        if utterance is None:
            end = _next_utterance(span, at)
            yield at, end, None
        else:
            end = min(utterance.end, span.end)
            if max(at, utterance.text_start) < end:
                yield max(at, utterance.text_start), end, utterance.start
        at = end


def _next_utterance(span: Span, at: int) -> int:
    """Where the first utterance after `at` starts, within the span."""
    utterances = span.document.utterances
    following = bisect_right(utterances, at, key=lambda utterance: utterance.start)
    return min(utterances[following].start, span.end) if following < len(utterances) else span.end
