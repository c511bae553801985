"""Blocks: utterances, or paragraphs outside utterances; topics begin at blocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.evidence import Sentence, Span, evidence_sentences
from indexing.documents import Document
from indexing.text.chunking import count_words
from indexing.text.terms import content_stems

LONGEST = 120  # words of a block outside of utterances, which then ends with a sentence

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with its words."""

    sentence: Sentence
    words: int
    stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring sentences that no topic ends between."""

    start: int  # first character, the speaker's label included
    end: int  # one past the last
    statements: tuple[Statement, ...]  # its sentences, one at least
    speaker: str | None = None  # who speaks, in a transcript
    heading: bool = False  # whether a heading begins with it

    @property
    def words(self) -> int:
        """How many words it has."""
        return sum(each.words for each in self.statements)


def blocks(document: Document) -> list[Block]:
    """A document's blocks, in order; empty for one without a word."""
    whole = Span(document, 0, len(document.text), 0.0)
    statements = [_statement(each) for each in evidence_sentences([whole])]
    return [_block(document, group) for group in _groups(document, statements)]


def _statement(sentence: Sentence) -> Statement:
    text = sentence.text
    return Statement(sentence, count_words(text), tuple(content_stems(text)))


def _groups(document: Document, statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    group: list[Statement] = []
    for statement in statements:
        if group and _ends(document, group, statement.sentence):
            yield group
            group = []
        group.append(statement)
    if group:
        yield group


def _ends(document: Document, group: Sequence[Statement], following: Sentence) -> bool:
    """Whether a block ends before a sentence."""
    last = group[-1].sentence
    if last.utterance != following.utterance:
        return True
    if following.utterance is not None:
        return False
    if _begins_part(document, last.end, following.start):
        return True
    if _BLANK_LINE.search(document.text, last.end, following.start):
        return True
    return sum(each.words for each in group) >= LONGEST


def _begins_part(document: Document, after: int, start: int) -> bool:
    """Whether a break of the document lies behind `after`, up to `start`."""
    breaks = document.breaks
    return bisect_right(breaks, start) > bisect_right(breaks, after - 1)


def _is_paged(document: Document) -> bool:
    """Whether passages prefer to begin at its pages, for want of headings."""
    return bool(document.pages) and not document.pages[0].name


def _block(document: Document, group: list[Statement]) -> Block:
    first, last = group[0].sentence, group[-1].sentence
    start = first.start if first.utterance is None else first.utterance
    return Block(
        start,
        last.end,
        tuple(group),
        speaker=first.speaker,
        heading=not _is_paged(document) and _begins_part(document, start, first.start),
    )
