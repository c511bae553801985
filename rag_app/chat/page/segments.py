"""An answer's text split into segments: text, the short answer in it, labels, markers, doubts.

Only the answer's own markers count: a "[1]" that a document contains remains text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from generator.answer import UNSUPPORTED_MARK, Answer, Mode
from rag_app.short_answer import line_emphasis, quote_emphasis

Kind = Literal["text", "label", "short", "doubt", "marker", "unsupported"]

_MARKS = re.compile(rf" ?(?:\[(\d{{1,3}})\]|({re.escape(UNSUPPORTED_MARK)}))")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of an answer."""

    # "text"; "label" for what stands before a quote, such as who says it; "short" for the words of
    # it that answer; "doubt" for a sentence that no quote supports; "marker" for the number of a
    # citation; "unsupported" for the mark after a doubt
    kind: Kind
    text: str  # its text; of a marker, its digits


def paragraphs(text: str, mode: Mode, answer: Answer | None = None) -> list[list[Segment]]:
    """The lines of an answer in segments, as far as it is written.

    Quotes have at most one marker a line, at its end and counting up; a generated answer has them
    anywhere.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    if mode == "quote":
        return list(_quotes(lines, answer))
    return [list(_free(line, answer.unsupported if answer else ())) for line in lines]


def _quotes(lines: Sequence[str], answer: Answer | None) -> Iterator[list[Segment]]:
    number = 1
    for line in lines:
        mark = f" [{number}]"  # a line that is counted or listed may have none
        if line.endswith(mark):
            words = _words(line.removesuffix(mark), number, answer)
            yield [*words, Segment("marker", str(number))]
            number += 1
        else:
            yield [Segment("text", line)]


def _words(line: str, number: int, answer: Answer | None) -> Iterator[Segment]:
    """A line of quotes without its marker: what is no quote, and the words that answer, apart."""
    citations = answer.citations if answer else ()
    citation = next((each for each in citations if each.marker == number), None)
    if citation is None or answer is None:
        yield Segment("text", line)
        return
    speaker = " ".join((citation.speaker or "").split())
    quote = " ".join(citation.quote.split())
    label = f"{speaker}: " if speaker and line.startswith(f"{speaker}: ") else ""
    if not label and quote and line.endswith(f" {quote}"):  # "To do, Ann:", in a list
        label = line.removesuffix(quote)
    if label:
        yield Segment("label", label)
        line = line.removeprefix(label)
    cut = line_emphasis(line, quote_emphasis(citation, answer.short))
    kinds: tuple[Kind, ...] = ("text", "short", "text")
    for kind, part in zip(kinds, (cut.before, cut.words, cut.after), strict=True):
        if part:
            yield Segment(kind, part)


def _free(line: str, unsupported: Sequence[str]) -> Iterator[Segment]:
    at = 0
    for mark in _MARKS.finditer(line):
        text = line[at : mark.start()]
        doubtful = mark[2] or line.startswith(f" {UNSUPPORTED_MARK}", mark.end())
        yield from _before_mark(text, unsupported if doubtful else ())
        yield Segment("unsupported", "no support found") if mark[2] else Segment("marker", mark[1])
        at = mark.end()
    if line[at:]:
        yield Segment("text", line[at:])


def _before_mark(text: str, unsupported: Sequence[str]) -> Iterator[Segment]:
    """Text before a mark; the unsupported sentence at its end apart."""
    bare = text.strip()
    doubt = max((each for each in unsupported if bare.endswith(each)), key=len, default="")
    before = text[: text.rindex(doubt)] if doubt else text
    if before:
        yield Segment("text", before)
    if doubt:
        yield Segment("doubt", doubt)
