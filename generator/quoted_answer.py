"""Quotes that answer a question in, the lines of a verbatim answer out, each cited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from generator.answer import NOT_SAID, Event
from generator.answer_form import NO_WORDS, QUOTE_A_LINE, WORDS_ONLY
from generator.draft import Draft
from generator.evidence import Sentence
from generator.extractive.features import SentenceFeatures
from generator.extractive.quotes.selector import build_citation, format_quote
from generator.extractive.short_answer import short_answer


def quote(draft: Draft, features: SentenceFeatures, quotes: Sequence[Sentence]) -> Iterator[Event]:
    """The text in pieces; the draft takes the citations, and the words that answer."""
    if draft.request.form == "words":
        yield from _words(draft, features, quotes)
    else:
        yield from _quotes(draft, quotes)
        draft.short = short_answer(features, draft.citations)
    if not draft.citations:
        yield draft.text(NOT_SAID)
    draft.lap("write")


def _quotes(draft: Draft, quotes: Iterable[Sentence]) -> Iterator[Event]:
    """A quote a line, with its marker."""
    if draft.request.form == "list":
        draft.configuration["form"] = QUOTE_A_LINE
    for marker, sentence in enumerate(quotes, start=1):
        text = format_quote(sentence, marker)
        yield draft.text(text if marker == 1 else "\n" + text)
        draft.citations.append(build_citation(sentence, marker, text))


def _words(draft: Draft, features: SentenceFeatures, quotes: Sequence[Sentence]) -> Iterator[Event]:
    """The words that answer, cited by their quote; all quotes where no words stand out."""
    citations = [
        build_citation(one, marker, format_quote(one, marker))
        for marker, one in enumerate(quotes, start=1)
    ]
    short = short_answer(features, citations)
    if short is None:
        draft.configuration["form"] = NO_WORDS
        yield from _quotes(draft, quotes)
        return
    draft.configuration["form"] = WORDS_ONLY
    draft.citations = [replace(citations[short.marker - 1], marker=1)]
    draft.short = replace(short, marker=1)
    yield draft.text(f"{' '.join(short.text.split())} [1]")
